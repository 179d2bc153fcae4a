import { useRouter, type NavigateOptions } from "@tanstack/react-router";
import { useMemo } from "react";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** The previous history entry is the same screen without the open span. */
    opensSpan?: boolean;
  }
}

export type PanelStep = Pick<NavigateOptions, "replace" | "state">;

/**
 * Navigation options for a span that opens beside a list: one history entry while any span is open, and none once it is
 * closed.
 */
export function usePanelHistory() {
  const { history } = useRouter();
  return useMemo(
    () => ({
      open: { state: { opensSpan: true } } satisfies PanelStep,
      follow: { replace: true, state: true } satisfies PanelStep,
      /** @param otherwise closes it in place, for a page that was loaded with the span open */
      close: (otherwise: (step: PanelStep) => void) => {
        if (history.location.state.opensSpan === true) history.back();
        else otherwise({ replace: true });
      },
    }),
    [history],
  );
}

import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";
import type { PanelStep } from "../spans/use-panel-history.ts";

const route = getRouteApi("/shell/logs");

/** The state of the screen, stored in the URL. */
export function useLogsSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const update = useCallback(
    (change: Partial<typeof search>, options: PanelStep = {}) => {
      void navigate({ search: (before) => ({ ...before, ...change }), ...options });
    },
    [navigate],
  );
  return { search, update };
}

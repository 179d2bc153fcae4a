import { createElement, useEffect, useState, type ReactNode } from "react";
import { loadCode } from "../api/load-code.ts";
import { ErrorPanel } from "./error-panel.tsx";

type Part<P> = (props: P) => ReactNode;

/**
 * @returns a component whose code is loaded when it is first shown; `preload` loads it earlier. A failed load can be
 * retried.
 */
export function lazyPart<P extends object>(
  load: () => Promise<Part<P>>,
  fallback: Part<P> = () => null,
): Part<P> & { preload: () => Promise<void> } {
  let part: Part<P> | undefined;
  const start = async (): Promise<void> => {
    part ??= await loadCode(load);
  };
  function LazyPart(props: P): ReactNode {
    const [tries, setTries] = useState(0);
    const [state, setState] = useState<{ error?: unknown }>();
    useEffect(() => {
      if (part === undefined)
        start().then(
          () => setState({}),
          (error: unknown) => setState({ error }),
        );
    }, [tries]);
    if (part !== undefined) return createElement(part, props);
    if (state?.error === undefined) return fallback(props);
    const retry = (): void => {
      setState(undefined);
      setTries(tries + 1);
    };
    return <ErrorPanel error={state.error} onRetry={retry} />;
  }
  // A failed preload is ignored: the component shows the error when it is rendered.
  return Object.assign(LazyPart, { preload: () => start().catch(() => undefined) });
}

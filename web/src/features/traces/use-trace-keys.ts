import type { KeyboardEvent } from "react";
import { useKeys } from "../../ui/keys.ts";
import type { Steps } from "./use-steps.ts";

type KeyActions = {
  steps: Steps;
  focusSearch: () => void;
  togglePath: () => void;
  resetZoom: () => void;
  zoomToSpan: () => void;
};

/** Keyboard shortcuts of the trace, active unless a text field has the focus. With Shift, jumps go backwards. */
export function useTraceKeys({ steps, focusSearch, togglePath, resetZoom, zoomToSpan }: KeyActions): void {
  const way = ({ shiftKey }: { shiftKey: boolean }) => (shiftKey ? -1 : 1);
  useKeys([
    { keys: "j", label: "Next span", run: () => steps.move(1) },
    { keys: "k", label: "Previous span", run: () => steps.move(-1) },
    { keys: "e", label: "Next error (Shift: previous)", run: (event) => steps.toError(way(event)) },
    { keys: "s", label: "Next slow span (Shift: previous)", run: (event) => steps.toSlow(way(event)) },
    { keys: "/", label: "Search in the trace", run: focusSearch },
    { keys: "n", label: "Next match (Shift: previous)", run: (event) => steps.toMatch(way(event)) },
    { keys: "p", label: "Show or hide the critical path", run: togglePath },
    { keys: "z", label: "Zoom to the span", run: zoomToSpan },
    { keys: "0", label: "Show all of the time", run: resetZoom },
    { keys: "Escape", run: () => steps.close() },
  ]);
}

/** Keys that have another meaning in other controls: they work only while the tree has the focus. */
export function pressInTree(event: KeyboardEvent, steps: Steps): void {
  const actions: Record<string, () => void> = {
    ArrowDown: () => steps.move(1),
    ArrowUp: () => steps.move(-1),
    PageDown: () => steps.move(20),
    PageUp: () => steps.move(-20),
    Home: () => steps.move(Number.NEGATIVE_INFINITY),
    End: () => steps.move(Number.POSITIVE_INFINITY),
    ArrowLeft: () => steps.out(),
    ArrowRight: () => steps.into(),
    Enter: () => steps.cursor !== -1 && steps.pick(steps.cursor),
  };
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]?.();
}

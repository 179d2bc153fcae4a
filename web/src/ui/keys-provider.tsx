import { useEffect, useMemo, useRef, type ReactNode } from "react";
import { bindingFor, KeyContext, nameOf, type Binding, type KeyRegistry } from "./keys.ts";

/** How long the second key of a pair may take. */
const pairMs = 1000;

/** Hears every key of the page once, and tells who asked for it (`useKeys`). */
export function KeysProvider({ children }: { children: ReactNode }): ReactNode {
  const listeners = useRef<(() => readonly Binding[])[]>([]);
  const registry = useMemo<KeyRegistry>(
    () => ({
      add(bindings) {
        listeners.current.unshift(bindings);
        return () => {
          listeners.current = listeners.current.filter((each) => each !== bindings);
        };
      },
      all: () => listeners.current.flatMap((bindings) => bindings()),
    }),
    [],
  );

  useEffect(() => {
    let previous: { name: string; atMs: number } | undefined;
    const hear = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      const { target } = event;
      if (isBehindDialog(target) || isOfControl(event)) return;
      const name = nameOf(event);
      const before = previous !== undefined && event.timeStamp - previous.atMs < pairMs ? previous.name : undefined;
      previous = { name, atMs: event.timeStamp };
      const binding = bindingFor(registry.all(), name, before, isField(target));
      if (binding === undefined) return;
      previous = undefined;
      event.preventDefault();
      binding.run(event);
    };
    window.addEventListener("keydown", hear);
    return () => window.removeEventListener("keydown", hear);
  }, [registry]);

  return <KeyContext value={registry}>{children}</KeyContext>;
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Enter on a button or a link is a click on it, whatever else it means on the page. */
function isOfControl({ key, target }: KeyboardEvent): boolean {
  return key === "Enter" && target instanceof Element && target.closest("a, button, summary") !== null;
}

/** Menus and dialogs have keys of their own; the page behind them is not to move. */
function isBehindDialog(target: EventTarget | null): boolean {
  if (target instanceof Element && target.closest('[role="menu"], [role="listbox"]') !== null) return true;
  return document.querySelector('[role="dialog"][data-open]:not([data-side-panel])') !== null;
}

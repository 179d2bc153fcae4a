import { useEffect, useMemo, useRef, type ReactNode } from "react";
import { bindingFor, KeyContext, nameOf, type Binding, type KeyRegistry } from "./keys.ts";

/** The longest delay between the two keys of a sequence. */
const pairMs = 1000;

/** Has the only key listener of the page, and dispatches to components that use `useKeys`. */
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
    const onKeyDown = (event: KeyboardEvent): void => {
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
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [registry]);

  return <KeyContext value={registry}>{children}</KeyContext>;
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Enter on a button or a link clicks it, whatever it is bound to on the page. */
function isOfControl({ key, target }: KeyboardEvent): boolean {
  return key === "Enter" && target instanceof Element && target.closest("a, button, summary") !== null;
}

/** Menus and dialogs handle keys themselves; the page behind them must not react. */
function isBehindDialog(target: EventTarget | null): boolean {
  if (target instanceof Element && target.closest('[role="menu"], [role="listbox"]') !== null) return true;
  return document.querySelector('[role="dialog"][data-open]:not([data-side-panel])') !== null;
}

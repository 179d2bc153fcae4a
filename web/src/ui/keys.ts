import { createContext, useContext, useEffect, useRef } from "react";

export type Binding = {
  /** `j`, `mod+k` (Ctrl or ⌘), `shift+Enter`, `Escape`, or two in a row: `g l`. */
  keys: string;
  /** What the list of keys says; without one it is left out there. */
  label?: string;
  run: (event: KeyboardEvent) => void;
  /** Also while a text field has the focus. */
  inFields?: boolean;
};

export type KeyRegistry = {
  /** The latest comes first: what opened last hears first. */
  add: (bindings: () => readonly Binding[]) => () => void;
  all: () => Binding[];
};

export const KeyContext = createContext<KeyRegistry | undefined>(undefined);

/** Listens while the component is there. Nothing is heard while a dialog is open, but by what is inside it. */
export function useKeys(bindings: readonly Binding[]): void {
  const registry = useContext(KeyContext);
  const latest = useRef(bindings);
  useEffect(() => {
    latest.current = bindings;
  });
  useEffect(() => registry?.add(() => latest.current), [registry]);
}

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

/** The name of what was pressed. Shift counts where the key has no other letter by it. */
export function nameOf({ key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): string {
  const parts = [(ctrlKey || metaKey) && "mod", altKey && "alt", shiftKey && key.length > 1 && "shift"];
  return [...parts.filter(Boolean), key.length === 1 ? key.toLowerCase() : key].join("+");
}

/** Which binding a key means, after the one before it. */
export function bindingFor(
  bindings: readonly Binding[],
  name: string,
  previous: string | undefined,
  isInField: boolean,
): Binding | undefined {
  const heard = bindings.filter((binding) => !isInField || binding.inFields === true);
  const pair = previous === undefined ? undefined : heard.find(({ keys }) => keys === `${previous} ${name}`);
  return pair ?? heard.find(({ keys }) => keys === name);
}

import { createContext, useContext, useEffect, useRef } from "react";

export type Binding = {
  /** `j`, `mod+k` (Ctrl or ⌘), `shift+Enter`, `Escape`, or a sequence of two: `g l`. */
  keys: string;
  /** The description in the list of shortcuts; without one it is not listed. */
  label?: string;
  run: (event: KeyboardEvent) => void;
  /** Also active while a text field has the focus. */
  inFields?: boolean;
};

export type KeyRegistry = {
  /** The last added comes first: what opened last gets keys first. */
  add: (bindings: () => readonly Binding[]) => () => void;
  all: () => Binding[];
};

export const KeyContext = createContext<KeyRegistry | undefined>(undefined);

/** Binds keys while the component is mounted. While a dialog is open, only bindings inside it are active. */
export function useKeys(bindings: readonly Binding[]): void {
  const registry = useContext(KeyContext);
  const latest = useRef(bindings);
  useEffect(() => {
    latest.current = bindings;
  });
  useEffect(() => registry?.add(() => latest.current), [registry]);
}

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

/** The name of a pressed key. Shift counts only if the key has no shifted character. */
export function nameOf({ key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): string {
  const parts = [(ctrlKey || metaKey) && "mod", altKey && "alt", shiftKey && key.length > 1 && "shift"];
  return [...parts.filter(Boolean), key.length === 1 ? key.toLowerCase() : key].join("+");
}

/** The binding for a key, given the previous key. */
export function bindingFor(
  bindings: readonly Binding[],
  name: string,
  previous: string | undefined,
  isInField: boolean,
): Binding | undefined {
  const active = bindings.filter((binding) => !isInField || binding.inFields === true);
  const pair = previous === undefined ? undefined : active.find(({ keys }) => keys === `${previous} ${name}`);
  return pair ?? active.find(({ keys }) => keys === name);
}

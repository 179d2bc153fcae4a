import { expect, test } from "vitest";
import { bindingFor, nameOf, type Binding } from "./keys.ts";

const press = (key: string, modifiers: Partial<Record<"ctrlKey" | "metaKey" | "altKey" | "shiftKey", boolean>> = {}) =>
  nameOf({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers });

test("Ctrl and ⌘ are equivalent, Shift counts only if it does not change the letter", () => {
  expect(press("k", { ctrlKey: true })).toBe("mod+k");
  expect(press("k", { metaKey: true })).toBe("mod+k");
  expect(press("?", { shiftKey: true })).toBe("?");
  expect(press("J", { shiftKey: true })).toBe("j");
  expect(press("Enter", { shiftKey: true })).toBe("shift+Enter");
});

const binding = (keys: string, inFields = false): Binding => ({ keys, inFields, run: () => {} });

test("the first match wins, a sequence before a single key", () => {
  const bindings = [binding("l"), binding("g l"), binding("l")];
  expect(bindingFor(bindings, "l", undefined, false)).toBe(bindings[0]);
  expect(bindingFor(bindings, "l", "g", false)).toBe(bindings[1]);
  expect(bindingFor(bindings, "x", "g", false)).toBeUndefined();
});

test("text fields keep their keys, except bindings that apply in them too", () => {
  const bindings = [binding("j"), binding("mod+k", true)];
  expect(bindingFor(bindings, "j", undefined, true)).toBeUndefined();
  expect(bindingFor(bindings, "mod+k", undefined, true)).toBe(bindings[1]);
});

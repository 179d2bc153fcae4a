import { expect, test } from "vitest";
import { keyProblem, readTyped, typedValue } from "./metadata-edit.ts";

test.each([["pro"], ["true"], ["12"], [""], ['"x"'], ["{"], [12], [true], [null], [{ a: [1] }], ["007"]])(
  "a value saved as shown stays the same: %j",
  (value) => {
    expect(readTyped(typedValue(value))).toEqual(value);
  },
);

test("texts are edited without quotes", () => {
  expect(typedValue("pro")).toBe("pro");
  expect(typedValue("12")).toBe('"12"');
});

test.each([
  ["", "needed"],
  ["_x", "reserved"],
  ["plan", "already"],
])("the key %j is rejected: %s", (key, word) => {
  expect(keyProblem(key, ["plan"])).toContain(word);
});

test("other keys are accepted", () => {
  expect(keyProblem("a b/c 😀", ["plan"])).toBeUndefined();
});

import { expect, test } from "vitest";
import { differenceFromShown, elidedText } from "./elided.ts";

test("the output must contain all shown text, and other text only where it is elided", () => {
  expect(differenceFromShown({ a: 1, b: ["x"] }, { b: ["x"], a: 1 })).toBeUndefined();
  expect(differenceFromShown({ a: 1 }, { a: 2 })).toBe("$.a is 2, not 1");
  expect(differenceFromShown({ a: 1 }, { a: 1, b: 2 })).toBe("$ has a member b that is not shown");
  expect(differenceFromShown({ a: 1, "…": "…" }, { a: 1, b: 2 })).toBeUndefined();
  expect(differenceFromShown({ a: null }, { a: 0 })).toBe("$.a is 0, not null");
  expect(differenceFromShown({ a: 1 }, {})).toBe("$.a is undefined, not 1");
  expect(differenceFromShown([1], [1, 2])).toBe("$ has 2 items, not 1");
  expect(differenceFromShown([1, "…"], [1, 2])).toBeUndefined();
  expect(differenceFromShown([1, 2, "…"], [1])).toBe("$ has 1 items, not 2 or more");
  expect(differenceFromShown([{ a: "x" }], [{ a: "y" }])).toBe('$[0].a is "y", not "x"');
});

test("numbers may differ in their last digits only", () => {
  expect(differenceFromShown(0.1 + 0.2, 0.3)).toBeUndefined();
  expect(differenceFromShown(1.001, 1)).toBe("$ is 1, not 1.001");
});

test("text may be elided within a text; all other text is literal", () => {
  expect(elidedText("took … s (a.b)\n…").test("took 1.5 s (a.b)\nand\nmore")).toBe(true);
  expect(elidedText("a.b").test("axb")).toBe(false);
});

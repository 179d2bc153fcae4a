import { expect, test } from "vitest";
import { literalText } from "./json-literal.ts";

test.each([
  ["plain", '"plain"'],
  ['a\nb\t"c"', '"a\\nb\\t\\"c\\""'],
  ["\u202Eevil", '"\\u202eevil"'],
  ["\u001B[31m", '"\\u001b[31m"'],
  ["\uD800x", '"\\ud800x"'],
  ["\u{E0041}", '"\\udb40\\udc41"'],
  ["a\u2028b", '"a\\u2028b"'],
])("%j is printed as %s, which JSON parses back", (text, shown) => {
  expect(literalText(text, 100, true)).toBe(shown);
  expect(JSON.parse(shown)).toBe(text);
});

test("long texts are truncated, and names are quoted only if necessary", () => {
  expect(literalText("x".repeat(500), 3, true)).toBe('"xxx…');
  expect(literalText("input.value", 80, false)).toBe("input.value");
  expect(literalText("a b", 80, false)).toBe('"a b"');
  expect(literalText("", 80, false)).toBe('""');
});

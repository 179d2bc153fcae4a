import { expect, test } from "vitest";
import { indentedJson } from "./indented-json.ts";

test.each([
  [{ a: [1, { b: '[{,\\"' }] }, '{\n  "a": [\n    1,\n    {\n      "b": "[{,\\\\\\""\n    }\n  ]\n}'],
  [[], "[]"],
  ["text", '"text"'],
  [undefined, ""],
])("%j has each member on its own line", (value, text) => expect(indentedJson(value)).toBe(text));

test("values nested so deeply that indentation would multiply their length stay on one line", () => {
  const lists = "[".repeat(2_000) + "]".repeat(2_000);
  expect(indentedJson(JSON.parse(lists))).toBe(lists);
  const objects = '{"a":'.repeat(2_000) + "1" + "}".repeat(2_000);
  expect(indentedJson(JSON.parse(objects))).toBe(objects);
});

test("brackets within texts do not count as depth", () => {
  const text = "[{".repeat(100_000);
  expect(indentedJson({ text })).toBe(`{\n  "text": "${text}"\n}`);
});

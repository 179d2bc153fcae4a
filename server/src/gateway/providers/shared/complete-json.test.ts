import fc from "fast-check";
import { expect, test } from "vitest";
import { completeJson } from "./complete-json.ts";

test("P18: every prefix of an object's text becomes an object, and the whole text the object itself", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, at) => {
      const text = JSON.stringify(value);
      expect(JSON.stringify(completeJson(text))).toBe(text);
      const completed = completeJson(text.slice(0, 1 + (at % text.length)));
      expect(Object.keys(completed)).not.toContain("incomplete_arguments");
    }),
  );
});

test.each<[text: string, object: unknown]>([
  ['{"city": "Zür', { city: "Zür" }],
  ['{"a": 1, "b": [1, {"c": tr', { a: 1, b: [1, {}] }],
  ['{"a": 1, "b', { a: 1 }],
  ['{"a": "x\\', { a: "x\\" }],
  ["not json", { incomplete_arguments: "not json" }],
  ["[1", { incomplete_arguments: "[1" }],
])("P18: %s is parsed as far as possible", (text, object) => {
  expect(completeJson(text)).toEqual(object);
});

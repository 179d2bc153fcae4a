import { expect, test } from "vitest";
import { isExactNumber, parseExactly } from "./exact-json.ts";

test.each([
  '{"id":12345678901234567890,"n":1}',
  "[-99999999999999999999, 0.12345678901234567890123, 3]",
  "12345678901234567890",
])("digits are preserved: %s", (text) => {
  expect(JSON.stringify(parseExactly(text))).toBe(text.replaceAll(" ", ""));
});

test("a number that a double can represent is a number", () => {
  expect(parseExactly('{"a":9007199254740991,"b":0.1,"c":1e3,"d":"12345678901234567890"}')).toEqual({
    a: 9007199254740991,
    b: 0.1,
    c: 1000,
    d: "12345678901234567890",
  });
});

test("a preserved number differs from an object", () => {
  const [number, object] = parseExactly('[12345678901234567891,{"rawJSON":"1"}]') as unknown[];
  expect([isExactNumber(number), isExactNumber(object)]).toEqual([true, false]);
});

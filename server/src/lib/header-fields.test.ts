import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldNameOf, findByte, findHeadEnd, isFieldValue, isToken } from "./header-fields.ts";

/** Common header names in some spelling with a suffix, and texts that may be invalid names. */
const texts = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("content-type", "x-request-id", "authorization", "cf-ray", "x-spanway-log-id", "etag", "age"),
      fc.constantFrom(/^/g, /^[a-z]/g, /(?<![a-z])[a-z]/g, /[a-m]/g, /[a-z]/g),
      fc.constantFrom("", " ", ":", "\0", "\n", "-", "\u00e9", "\u212a"),
    )
    .map(([name, raised, end]) => name.replaceAll(raised, (letter) => letter.toUpperCase()) + end),
  fc.string({ maxLength: 20, unit: "binary-ascii" }),
  fc.string({ maxLength: 20, unit: "binary" }),
);

test("a field name is a token, in lower case", () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(fieldNameOf(text)).toBe(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text) ? text.toLowerCase() : undefined);
    }),
    { numRuns: 1_000 },
  );
});

test("a field value takes Latin-1 without control characters", () => {
  const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code));
  expect(characters.filter((c) => isToken(`a${c}`)).join("")).toBe(
    "!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~",
  );
  const unfit = characters.filter((c) => !isFieldValue(`a${c}`)).map((c) => c.charCodeAt(0));
  const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
  expect(unfit).toEqual([...range(0, 9), ...range(10, 32), 127, ...range(256, 384)]);
  expect([isToken(""), fieldNameOf(""), isFieldValue("")]).toEqual([false, undefined, true]);
});

const lines = fc
  .array(fc.constantFrom("a", "bc", "\r", "\n", "\r\n", "\r\n\r", "\n\r\n"))
  .map((parts) => parts.join(""));

test("the end of a head is its first blank line", () => {
  fc.assert(
    fc.property(lines, (text) => {
      expect(findHeadEnd(Buffer.from(text))).toBe(text.indexOf("\r\n\r\n"));
    }),
    { numRuns: 3_000 },
  );
});

test("a byte is found only before the end", () => {
  fc.assert(
    fc.property(lines, fc.nat(20), fc.nat(20), (text, at, length) => {
      const end = Math.max(at, Math.min(text.length, at + length));
      const found = text.slice(0, end).indexOf("\r", at);
      expect(findByte(Buffer.from(text), 0x0d, at, end)).toBe(found === -1 ? end : found);
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { findByte, findHeadEnd } from "./header-bytes.ts";

const texts = fc
  .array(fc.constantFrom("a", "bc", "\r", "\n", "\r\n", "\r\n\r", "\n\r\n"))
  .map((parts) => parts.join(""));

test("the end of a head is its first blank line", () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(findHeadEnd(Buffer.from(text))).toBe(text.indexOf("\r\n\r\n"));
    }),
    { numRuns: 3_000 },
  );
});

test("a byte is found only before the end", () => {
  fc.assert(
    fc.property(texts, fc.nat(20), fc.nat(20), (text, at, length) => {
      const end = Math.max(at, Math.min(text.length, at + length));
      const found = text.slice(0, end).indexOf("\r", at);
      expect(findByte(Buffer.from(text), 0x0d, at, end)).toBe(found === -1 ? end : found);
    }),
  );
});

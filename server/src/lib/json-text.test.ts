import fc from "fast-check";
import { expect, test } from "vitest";
import { countJsonNodes, holdsDigits, nullNonFinite } from "./json-text.ts";

/** Keys and values of a tree. */
function nodesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const members = Object.values(value);
  const keys = Array.isArray(value) ? 0 : members.length;
  return members.reduce((sum: number, member) => sum + nodesOf(member), 1 + keys);
}

test("the count is at least the number of nodes, and at most twice it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const bytes = Buffer.from(JSON.stringify(value));
      const nodes = nodesOf(value);
      const counted = countJsonNodes(bytes, 1e9);
      expect(counted).toBeGreaterThanOrEqual(nodes);
      expect(counted).toBeLessThanOrEqual(2 * nodes);
    }),
  );
});

test("the content of strings is not counted", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(countJsonNodes(Buffer.from(JSON.stringify(text)), 10)).toBe(1);
    }),
  );
});

test("counting stops at the bound and at the end of the text", () => {
  expect(countJsonNodes(Buffer.from("[".repeat(1000)), 10)).toBe(11);
  for (const text of ['"', '"\\', '"\\"', "", '{"a', '\\"'])
    expect(countJsonNodes(Buffer.from(text), 10)).toBeLessThan(4);
});

test("bare NaN and Infinity become null only outside strings", () => {
  const token = fc.constantFrom("NaN", "Infinity", "-Infinity", "1", "null", "[", "]", ",", " ");
  const string = fc
    .string({ unit: fc.constantFrom("NaN", "Infinity", '"', "\\", "é", "x") })
    .map((text) => JSON.stringify(text));
  fc.assert(
    fc.property(fc.array(fc.oneof(token, string)), (parts) => {
      const expected = parts.map((part) => part.replace(/^-?(?:NaN|Infinity)$/, "null"));
      expect(nullNonFinite(parts.join(" "), 1000)).toBe(expected.join(" "));
    }),
  );
});

test.each([
  ["quotes", '"\\"'.repeat(200_000)],
  ["backslashes", `"${"\\".repeat(2_000_000)}`],
  ["strings that are never closed", `NaN "${'\\" '.repeat(500_000)}`],
  ["tokens", "NaN".repeat(300_000)],
])("a megabyte of %s takes no longer than reading it", (_name, text) => {
  const began = performance.now();
  nullNonFinite(text, 1e6);
  countJsonNodes(Buffer.from(text), 1e9);
  expect(performance.now() - began).toBeLessThan(1000);
});

test("a run of digits is found anywhere, and shorter runs are not", () => {
  const piece = fc.oneof(fc.stringMatching(/^[0-9]{0,40}$/), fc.stringMatching(/^[ -~]{0,20}$/), fc.string());
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      expect(holdsDigits(text, 16)).toBe(/\d{16}/.test(text));
    }),
    { numRuns: 2_000 },
  );
});

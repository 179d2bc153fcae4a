import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesPattern, readPattern } from "./model-pattern.ts";

/** Reference implementation: `*` matches nothing, or one character and continues. */
function fits(pattern: string, name: string): boolean {
  if (pattern === "") return name === "";
  if (pattern[0] === "*") return fits(pattern.slice(1), name) || (name !== "" && fits(pattern, name.slice(1)));
  return name !== "" && pattern[0] === name[0] && fits(pattern.slice(1), name.slice(1));
}

const word = (letters: string[]) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 });

test("a pattern matches its text with any characters for each *", () => {
  fc.assert(
    fc.property(word(["a", "b", "*"]), word(["a", "b"]), (pattern, name) => {
      expect(matchesPattern(readPattern(pattern), name)).toBe(fits(pattern, name));
    }),
    { numRuns: 2_000 },
  );
});

test("characters of regular expressions are literal", () => {
  expect(matchesPattern(readPattern("gpt-4.1(a+)+$"), "gpt-4x1aaa")).toBe(false);
  expect(matchesPattern(readPattern("[a-z].*"), "[a-z].x")).toBe(true);
});

test("a worst-case pattern is matched quickly", () => {
  const startMs = performance.now();
  for (let i = 0; i < 1_000; i += 1) matchesPattern(readPattern("a*a*a*a*b"), "a".repeat(512));
  expect(performance.now() - startMs).toBeLessThan(1_000);
});

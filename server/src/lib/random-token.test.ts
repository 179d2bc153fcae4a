import { expect, test } from "vitest";
import { randomToken } from "./random-token.ts";

test("has the requested length and consists of letters and digits", () => {
  for (const chars of [0, 1, 20, 32, 500]) expect(randomToken(chars)).toMatch(new RegExp(`^[0-9A-Za-z]{${chars}}$`));
});

test("differs each time, with every character about equally likely", () => {
  expect(randomToken(32)).not.toBe(randomToken(32));
  const counts = new Map<string, number>();
  for (const character of randomToken(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // Six standard deviations around the mean of 1000; a modulo bias would put some at 1250.
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(190);
});

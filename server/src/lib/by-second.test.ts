import fc from "fast-check";
import { expect, test } from "vitest";
import { bySecond } from "./by-second.ts";

test("bySecond gives each instant the text of its own second, in any order of instants", () => {
  const format = (ms: number): string => `${ms / 1000}s`;
  const instants = fc.array(fc.integer({ min: -3_000, max: 3_000 }), { maxLength: 50 });
  fc.assert(
    fc.property(instants, (all) => {
      const text = bySecond(format);
      expect(all.map(text)).toEqual(all.map((ms) => format(Math.floor(ms / 1000) * 1000)));
    }),
  );
});

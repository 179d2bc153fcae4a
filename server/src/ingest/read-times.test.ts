import fc from "fast-check";
import { expect, test } from "vitest";
import { maxTimeNs, minTimeNs } from "../lib/time.ts";
import { createTimeWriter, storedTime } from "./read-times.ts";

/** By the calendar of the platform, which knows milliseconds alone. */
function expectedTime(ns: bigint): string {
  const ofMs = ((ns % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const iso = new Date(Number((ns - ofMs) / 1_000_000n)).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}${String(ofMs).padStart(6, "0")}`;
}

/** Some of them a little apart, on both sides of a second. */
const times = fc
  .tuple(
    fc.bigInt({ min: minTimeNs, max: maxTimeNs }),
    fc.array(fc.bigInt({ min: -2_000_000_000n, max: 2_000_000_000n }), { maxLength: 5 }),
  )
  .map(([first, offsets]) => [first, ...offsets.map((offset) => first + offset)])
  .filter((all) => all.every((ns) => ns >= minTimeNs && ns <= maxTimeNs));

test("times are written as the calendar has them, whatever time was written before", () => {
  fc.assert(
    fc.property(times, (all) => {
      const write = createTimeWriter();
      expect(all.map(write)).toEqual(all.map(expectedTime));
      expect(all.map(storedTime)).toEqual(all.map(expectedTime));
    }),
  );
  expect([0n, -1n, 1n, 999_999_999n, 1_000_000_000n].map(createTimeWriter())).toEqual([
    "1970-01-01 00:00:00.000000000",
    "1969-12-31 23:59:59.999999999",
    "1970-01-01 00:00:00.000000001",
    "1970-01-01 00:00:00.999999999",
    "1970-01-01 00:00:01.000000000",
  ]);
});

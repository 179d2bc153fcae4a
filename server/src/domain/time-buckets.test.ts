import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bucketIntervals, bucketSeconds, bucketStarts, chooseInterval, isTimeZone } from "./time-buckets.ts";

const ns = (iso: string) => BigInt(Date.parse(iso)) * 1_000_000n;
const buckets = (startTime: string, endTime: string, interval: (typeof bucketIntervals)[number], timeZone = "UTC") =>
  bucketStarts({ startNs: ns(startTime), endNs: ns(endTime) }, { interval, timeZone, max: 1_500 })?.map((start) =>
    new Date(start * 1000).toISOString().replace(":00.000Z", "Z"),
  );

describe("buckets", () => {
  test("days of a time zone have 23 and 25 hours when its clocks change", () => {
    expect(buckets("2026-03-28T12:00Z", "2026-03-30T12:00Z", "1d", "Europe/Berlin")).toEqual([
      "2026-03-27T23:00Z",
      "2026-03-28T23:00Z",
      "2026-03-29T22:00Z",
    ]);
    expect(buckets("2026-10-25T00:00Z", "2026-10-26T12:00Z", "1d", "Europe/Berlin")).toEqual([
      "2026-10-24T22:00Z",
      "2026-10-25T23:00Z",
    ]);
    expect(buckets("2026-10-24T22:00Z", "2026-10-25T22:59Z", "1h", "Europe/Berlin")).toHaveLength(25);
    expect(buckets("2026-10-24T22:00Z", "2026-10-25T22:59Z", "6h", "Europe/Berlin")).toEqual([
      "2026-10-24T22:00Z",
      "2026-10-25T05:00Z",
      "2026-10-25T11:00Z",
      "2026-10-25T17:00Z",
    ]);
  });

  test("a day without midnight begins with its first instant", () => {
    expect(buckets("2018-11-03T12:00Z", "2018-11-05T12:00Z", "1d", "America/Sao_Paulo")).toEqual([
      "2018-11-03T03:00Z",
      "2018-11-04T03:00Z",
      "2018-11-05T02:00Z",
    ]);
  });

  test("hours follow time zones that are half an hour off", () => {
    expect(buckets("2026-01-01T00:00Z", "2026-01-01T01:00Z", "1h", "Asia/Kolkata")).toEqual([
      "2025-12-31T23:30Z",
      "2026-01-01T00:30Z",
    ]);
    expect(buckets("2026-01-01T00:10Z", "2026-01-01T00:20Z", "15m", "Asia/Kathmandu")).toEqual([
      "2026-01-01T00:00Z",
      "2026-01-01T00:15Z",
    ]);
  });

  test("weeks begin on Monday, months on their first day, also in leap years", () => {
    expect(buckets("2026-11-29T23:00Z", "2026-12-07T00:00Z", "1w")).toEqual([
      "2026-11-23T00:00Z",
      "2026-11-30T00:00Z",
      "2026-12-07T00:00Z",
    ]);
    expect(buckets("2028-01-31T00:00Z", "2028-03-01T00:00Z", "1mo")).toEqual([
      "2028-01-01T00:00Z",
      "2028-02-01T00:00Z",
      "2028-03-01T00:00Z",
    ]);
    expect(buckets("2028-02-28T00:00Z", "2028-03-01T00:00Z", "1d")).toHaveLength(3);
  });

  test("one instant has one bucket; more than the maximum gives undefined", () => {
    expect(buckets("2026-01-01T00:00Z", "2026-01-01T00:00Z", "1mo")).toEqual(["2026-01-01T00:00Z"]);
    expect(buckets("2026-01-01T00:00Z", "2026-01-02T00:59Z", "1m")).toHaveLength(1_500);
    expect(buckets("2026-01-01T00:00Z", "2026-01-02T01:00Z", "1m")).toBeUndefined();
    expect(buckets("1900-01-01T00:00Z", "2262-01-01T00:00Z", "1m")).toBeUndefined();
  });

  test("any window is covered without gaps, by buckets of the stated length", () => {
    const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"];
    const window = fc.record({
      from: fc.integer({ min: Date.UTC(2005, 0), max: Date.UTC(2030, 0) }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      interval: fc.constantFrom(...bucketIntervals),
      timeZone: fc.constantFrom(...zones),
    });
    fc.assert(
      fc.property(window, ({ from, share, interval, timeZone }) => {
        const toMs = from + Math.floor(share * 1_000 * bucketSeconds[interval] * 400);
        const bounds = { startNs: BigInt(from) * 1_000_000n, endNs: BigInt(toMs) * 1_000_000n };
        const starts = bucketStarts(bounds, { interval, timeZone, max: 1_500 }) ?? [];
        expect(starts[0]).toBeLessThanOrEqual(from / 1000);
        expect(starts.length === 1 || starts[1]! * 1000 > from).toBe(true);
        expect(starts.at(-1)).toBeLessThanOrEqual(toMs / 1000);
        const lengths = starts.slice(1).map((start, index) => start - starts[index]!);
        // A day may be missing entirely: Apia had no 30 December 2011.
        const slack = interval === "1h" ? 1_800 : interval.endsWith("m") ? 0 : 3 * 86_400;
        for (const length of lengths) {
          expect(length).toBeGreaterThan(0);
          expect(Math.abs(length - bucketSeconds[interval])).toBeLessThanOrEqual(slack);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("auto makes about the requested number of buckets", () => {
    const choose = (hours: number) => chooseInterval({ startNs: 0n, endNs: BigInt(hours) * 3_600_000_000_000n }, 60);
    expect([0, 1, 6, 24, 24 * 3, 24 * 30, 24 * 365, 24 * 365 * 5].map(choose)).toEqual([
      "1m",
      "1m",
      "5m",
      "15m",
      "1h",
      "6h",
      "1w",
      "1mo",
    ]);
  });

  test("time zones are recognized by name", () => {
    expect(["UTC", "Europe/Berlin", "America/Argentina/Ushuaia"].every(isTimeZone)).toBe(true);
    expect(["", "Mars/Olympus", "+01:00", "constructor", "Europe/Berlin; DROP", "\0"].some(isTimeZone)).toBe(false);
  });
});

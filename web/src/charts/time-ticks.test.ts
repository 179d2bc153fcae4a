import { describe, expect, test } from "vitest";
import { bucketStarts, type BucketInterval } from "../../../server/src/domain/time-buckets.ts";
import { timeTicks } from "./time-ticks.ts";

/** Buckets as the server makes them. */
function buckets(from: string, to: string, interval: BucketInterval, timeZone: string): number[] {
  const ns = (text: string) => BigInt(Date.parse(text)) * 1_000_000n;
  const window = { startNs: ns(from), endNs: ns(to) };
  return (bucketStarts(window, { interval, timeZone, max: 2000 }) ?? []).map((seconds) => seconds * 1000);
}

const labels = (starts: number[], timeZone: string, max: number) =>
  timeTicks(starts, timeZone, max).map(({ label }) => label);

describe("labels of a time axis", () => {
  test("are at round times of the zone", () => {
    const starts = buckets("2026-11-29T09:07:00Z", "2026-11-29T10:06:00Z", "1m", "UTC");
    expect(labels(starts, "UTC", 8)).toEqual(["09:10", "09:20", "09:30", "09:40", "09:50", "10:00"]);
    expect(labels(starts, "Asia/Kathmandu", 3)).toEqual(["15:00", "15:30"]);
  });

  test("include the day where it changes", () => {
    const starts = buckets("2026-11-28T14:00:00Z", "2026-11-29T13:59:00Z", "1h", "Europe/Berlin");
    expect(labels(starts, "Europe/Berlin", 5)).toEqual(["18:00", "Nov 29", "06:00", "12:00"]);
  });

  test("name days, Mondays, months and years of longer windows", () => {
    const days = buckets("2026-11-16T00:00:00Z", "2026-12-13T23:00:00Z", "1d", "UTC");
    expect(labels(days, "UTC", 5)).toEqual(["Nov 16", "Nov 23", "Nov 30", "Dec 7"]);
    const year = buckets("2026-02-01T00:00:00Z", "2027-01-31T23:00:00Z", "1mo", "UTC");
    expect(labels(year, "UTC", 12)).toEqual([
      "Feb 2026",
      "Mar",
      "Apr",
      "May",
      "Jun",
      "Jul",
      "Aug",
      "Sep",
      "Oct",
      "Nov",
      "Dec",
      "Jan 2027",
    ]);
    expect(labels(year, "UTC", 4)).toEqual(["Apr 2026", "Jul", "Oct", "Jan 2027"]);
  });

  test("are at least two for a week, whichever day it begins", () => {
    for (let day = 10; day < 17; day += 1) {
      const week = buckets(`2026-11-${day}T12:00:00Z`, `2026-11-${day + 7}T11:00:00Z`, "6h", "UTC");
      for (const max of [3, 4, 5]) expect(labels(week, "UTC", max).length, `${day}, ${max}`).toBeGreaterThan(1);
    }
  });

  test("name the first day of a window that begins within it", () => {
    const [, ...later] = buckets("2026-11-23T08:31:00Z", "2026-11-30T08:31:00Z", "1d", "UTC");
    const starts = [Date.parse("2026-11-23T08:31:00Z"), ...later];
    expect(labels(starts, "UTC", 10).slice(0, 2)).toEqual(["Nov 23", "Nov 24"]);
    const hours = buckets("2026-11-23T18:00:00Z", "2026-11-25T17:00:00Z", "6h", "UTC");
    expect(labels(hours, "UTC", 3)).toEqual(["Nov 24", "Nov 25"]);
  });

  test("skip the missing hour when clocks go forward, and later labels stay round", () => {
    const starts = buckets("2026-03-28T23:00:00Z", "2026-03-29T09:59:00Z", "1h", "Europe/Berlin");
    const all = labels(starts, "Europe/Berlin", 24);
    expect(all).toEqual([
      "Mar 29",
      "01:00",
      "03:00",
      "04:00",
      "05:00",
      "06:00",
      "07:00",
      "08:00",
      "09:00",
      "10:00",
      "11:00",
    ]);
    expect(labels(starts, "Europe/Berlin", 4)).toEqual(["Mar 29", "03:00", "06:00", "09:00"]);
  });

  test("show the repeated hour once when clocks go back", () => {
    const starts = buckets("2026-10-24T22:00:00Z", "2026-10-25T04:59:00Z", "1h", "Europe/Berlin");
    expect(starts).toHaveLength(7);
    expect(labels(starts, "Europe/Berlin", 24)).toEqual(["Oct 25", "01:00", "02:00", "03:00", "04:00", "05:00"]);
  });

  test("name every day across a clock change, even one that begins at one o'clock", () => {
    const berlin = buckets("2026-10-23T22:00:00Z", "2026-10-27T12:00:00Z", "1d", "Europe/Berlin");
    expect(labels(berlin, "Europe/Berlin", 9)).toEqual(["Oct 24", "Oct 25", "Oct 26", "Oct 27"]);
    const cairo = buckets("2026-04-22T22:00:00Z", "2026-04-25T12:00:00Z", "1h", "Africa/Cairo");
    expect(labels(cairo, "Africa/Cairo", 4)).toContain("Apr 24");
  });

  test("never exceed the available space", () => {
    for (const interval of ["1m", "5m", "15m", "1h", "6h", "1d", "1w"] as const) {
      for (const max of [1, 2, 3, 5, 9]) {
        const starts = buckets("2026-10-24T11:13:00Z", "2026-10-25T11:13:00Z", interval, "America/St_Johns");
        expect(timeTicks(starts, "America/St_Johns", max).length).toBeLessThanOrEqual(max);
      }
    }
  });
});

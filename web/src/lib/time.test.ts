import { expect, test } from "vitest";
import {
  formatAgo,
  formatDate,
  formatExactTime,
  formatMinute,
  formatTime,
  formatWhen,
  fromInput,
  toInput,
  zoneName,
} from "./time.ts";

const now = Date.parse("2026-11-29T20:00:00Z");

test("the day is shown unless it is today, the year unless it is this year", () => {
  expect(formatTime("2026-11-29T14:03:22.120Z", "utc", now)).toBe("14:03:22.120");
  expect(formatTime("2026-11-28T14:03:22.120Z", "utc", now)).toBe("Nov 28 14:03:22");
  expect(formatTime("2025-11-28T14:03:22.120Z", "utc", now)).toBe("Nov 28 2025 14:03:22");
});

test("midnight is 00, and the exact time includes its zone", () => {
  expect(formatMinute("2026-11-28T00:05:00Z", "utc")).toBe("Nov 28, 00:05");
  expect(formatMinute("2026-11-29T00:05:00Z", "utc", now)).toBe("00:05");
  expect(formatExactTime("2026-11-28T14:03:22.120Z", "utc")).toBe("2026-11-28 14:03:22.120 UTC");
  expect(formatDate("2026-11-28T23:59:59Z", "utc")).toBe("2026-11-28");
});

test("an invalid time is unknown", () => {
  for (const moment of [null, undefined, "", "soon", Number.NaN]) {
    expect(formatTime(moment, "utc")).toBe("—");
    expect(formatAgo(moment)).toBe("—");
  }
});

test("elapsed time is rounded down, and a time in the future is shown as such", () => {
  const ago = (seconds: number): string => formatAgo(now - seconds * 1000, now);
  expect([1, 59, 119, 7300, 200_000, -300].map(ago)).toEqual([
    "just now",
    "59 s ago",
    "1 min ago",
    "2 h ago",
    "2 d ago",
    "in 5 min",
  ]);
});

test("a time more than a day away is shown as a date", () => {
  const when = (moment: string): string => formatWhen(moment, "utc", now);
  expect(when("2026-11-29T17:00:00Z")).toBe("3 h ago");
  expect(when("2026-11-28T14:03:00Z")).toBe("Nov 28, 14:03");
  expect(when("2025-11-28T14:03:00Z")).toBe("Nov 28 2025, 14:03");
  expect(when("2026-12-24T14:03:00Z")).toBe("Dec 24, 14:03");
  expect(formatWhen(null, "utc")).toBe("—");
});

test("the server gets the zone's IANA name", () => {
  expect(zoneName("utc")).toBe("UTC");
  expect(Intl.supportedValuesOf("timeZone").concat("UTC")).toContain(zoneName("local"));
});

test.each(["local", "utc"] as const)("typed input is in %s time, and survives a round trip", (zone) => {
  const moment = "2026-07-01T23:59:00.000Z";
  expect(fromInput(toInput(moment, zone), zone)).toBe(moment);
  expect(fromInput("", zone)).toBeUndefined();
  expect(fromInput("soon", zone)).toBeUndefined();
});

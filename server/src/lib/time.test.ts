import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatTimeNs, isoTime, maxTimeNs, minTimeNs, parseTimeNs, storedTime, bySecond } from "./time.ts";

const instants = fc.bigInt({ min: minTimeNs, max: maxTimeNs });
const at = (iso: string) => BigInt(Date.parse(iso)) * 1_000_000n;

describe("parseTimeNs", () => {
  test.each([
    ["2026-01-02T03:04:05Z", at("2026-01-02T03:04:05Z")],
    ["2026-01-02t03:04:05z", at("2026-01-02T03:04:05Z")],
    ["2026-01-02 03:04:05", at("2026-01-02T03:04:05Z")],
    ["2026-01-02T03:04", at("2026-01-02T03:04:00Z")],
    ["2026-01-02", at("2026-01-02T00:00:00Z")],
    ["2026-01-02T03:04:05+02:00", at("2026-01-02T01:04:05Z")],
    ["2026-01-02T03:04:05-0530", at("2026-01-02T08:34:05Z")],
    // An offset's `+` that was not escaped in a URL.
    ["2026-01-02T03:04:05.5 02:00", at("2026-01-02T01:04:05.500Z")],
    ["2026-01-02T03:04:05.123456789Z", at("2026-01-02T03:04:05Z") + 123_456_789n],
    ["2024-02-29T00:00:00Z", at("2024-02-29T00:00:00Z")],
    ["2262-04-11T23:47:16.854775807Z", maxTimeNs],
    ["1900-01-01T00:00:00Z", minTimeNs],
    ["1767323045", 1_767_323_045_000_000_000n],
    ["1767323045.123456789", 1_767_323_045_123_456_789n],
    [1_767_323_045, 1_767_323_045_000_000_000n],
    [1_767_323_045.25, 1_767_323_045_250_000_000n],
    [1_767_323_045_123, 1_767_323_045_123_000_000n],
    [1_767_323_045_123.5, 1_767_323_045_123_500_000n],
    [1_767_323_045_123_456, 1_767_323_045_123_456_000n],
    ["1767323045123456789", 1_767_323_045_123_456_789n],
    [-1, -1_000_000_000n],
    [0, 0n],
  ])("reads %s", (value, expected) => {
    expect(parseTimeNs(value)).toBe(expected);
  });

  test.each([
    "",
    "yesterday",
    "2026-13-01T00:00:00Z",
    "2026-02-30",
    "2025-02-29",
    "2026-00-10",
    "2026-01-02T24:00:00Z",
    "2026-01-02T03:60:00Z",
    "2026-01-02T03:04:05.1234567890Z",
    "2026-01-02T03:04:05+24:00",
    "2026-01-02T03:04:05ZZ",
    "1899-12-31T23:59:59Z",
    "2262-04-11T23:47:16.854775808Z",
    "9999-12-31T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "0x10",
    "1e3",
    "-",
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e300,
    "99999999999999999999",
  ])("refuses %s", (value) => {
    expect(parseTimeNs(value)).toBeUndefined();
  });

  test("parses every instant that formatTimeNs writes", () => {
    fc.assert(
      fc.property(instants, (ns) => {
        expect(parseTimeNs(formatTimeNs(ns))).toBe(ns);
      }),
    );
  });

  test("gives the same instant for every offset", () => {
    const minutes = fc.integer({ min: -14 * 60, max: 14 * 60 });
    const seconds = fc.integer({ min: -2_000_000_000, max: 9_000_000_000 });
    fc.assert(
      fc.property(seconds, minutes, (epochS, offset) => {
        const local = new Date((epochS + offset * 60) * 1000).toISOString().slice(0, 19);
        const hours = String(Math.floor(Math.abs(offset) / 60)).padStart(2, "0");
        const rest = String(Math.abs(offset) % 60).padStart(2, "0");
        expect(parseTimeNs(`${local}${offset < 0 ? "-" : "+"}${hours}:${rest}`)).toBe(BigInt(epochS) * 1_000_000_000n);
      }),
    );
  });

  test("never throws, and never exceeds its range", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double(), fc.stringMatching(/^-?[\d.:TZ +-]{0,32}$/)), (value) => {
        const ns = parseTimeNs(value);
        expect(ns === undefined || (ns >= minTimeNs && ns <= maxTimeNs)).toBe(true);
      }),
    );
  });
});

describe("formatTimeNs", () => {
  test.each([
    [0n, "1970-01-01T00:00:00.000Z"],
    [1n, "1970-01-01T00:00:00.000000001Z"],
    [123_456_000n, "1970-01-01T00:00:00.123456Z"],
    [-1n, "1969-12-31T23:59:59.999999999Z"],
  ])("writes %s as %s", (ns, iso) => {
    expect(formatTimeNs(ns)).toBe(iso);
  });
});

describe("storedTime", () => {
  test.each([
    [0n, "1970-01-01 00:00:00.000000000"],
    [-1n, "1969-12-31 23:59:59.999999999"],
    [1n, "1970-01-01 00:00:00.000000001"],
    [999_999_999n, "1970-01-01 00:00:00.999999999"],
    [maxTimeNs, "2262-04-11 23:47:16.854775807"],
    [minTimeNs, "1900-01-01 00:00:00.000000000"],
  ])("writes %s", (ns, expected) => {
    expect(storedTime(ns)).toBe(expected);
  });

  test("keeps the instant, and isoTime gives the same text as formatTimeNs", () => {
    fc.assert(
      fc.property(instants, (ns) => {
        expect(parseTimeNs(storedTime(ns))).toBe(ns);
        expect(isoTime(storedTime(ns))).toBe(formatTimeNs(ns));
      }),
    );
  });
});

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

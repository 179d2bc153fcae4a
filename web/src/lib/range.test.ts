import { expect, test } from "vitest";
import { parseRange, windowOf } from "./range.ts";

test("a preset ends at the next full minute, fixed ends are kept", () => {
  const now = Date.parse("2026-11-29T20:00:01Z");
  expect(windowOf({ range: "1h" }, now)).toEqual({
    start: "2026-11-29T19:01:00.000Z",
    end: "2026-11-29T20:01:00.000Z",
  });
  const fixed = { from: "2026-11-01T00:00:00.000Z", to: "2026-11-02T00:00:00.000Z" };
  expect(windowOf(fixed, now)).toEqual({ start: fixed.from, end: fixed.to });
});

test("an invalid range is replaced by the default", () => {
  expect(parseRange({ range: "1 century" })).toEqual({});
  expect(parseRange({ range: "toString" })).toEqual({});
  expect(parseRange({ from: "2026-11-02", to: "2026-11-01" })).toEqual({});
  expect(parseRange({ from: "yesterday", to: "2026-11-01", range: "7d" })).toEqual({ range: "7d" });
});

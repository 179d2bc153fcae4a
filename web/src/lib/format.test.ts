import { expect, test } from "vitest";
import {
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatExactCost,
  formatInteger,
  formatNumberOf,
  formatPercent,
  formatShare,
  plainDecimal,
} from "./format.ts";

test.each([
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatExactCost,
  formatInteger,
  formatPercent,
  formatShare,
])("%o is shown as unknown, never as 0", (format) => {
  for (const value of [null, undefined, Number.NaN, Number.POSITIVE_INFINITY]) expect(format(value)).toBe("—");
});

test.each([
  [0, "$0"],
  [0.000_004_2, "$0.0000042"],
  [0.0123, "$0.0123"],
  [0.5, "$0.50"],
  [0.999_99, "$1.00"],
  [1, "$1.00"],
  [1234.5, "$1,234.50"],
  [2_345_678, "$2.35M"],
  [-0.25, "-$0.25"],
  [1e-15, "<$0.000000000001"],
])("a cost of %d is %s", (value, text) => expect(formatCost(value)).toBe(text));

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1k"],
  [1234, "1.23k"],
  [999_999, "1M"],
  [45_600_000, "45.6M"],
])("a count of %d is %s", (value, text) => expect(formatCount(value)).toBe(text));

test.each([
  [0, "0 s"],
  [0.000_34, "340 µs"],
  [0.012, "12 ms"],
  [0.9996, "1 s"],
  [1.234, "1.23 s"],
  [59.99, "1 min"],
  [125, "2 min 5 s"],
  [11_040, "3 h 4 min"],
  [183_600, "2 d 3 h"],
  [99.5 * 86_400, "99 d 12 h"],
  [20_788.125 * 86_400, "20,788 d"],
  [-1.5, "-1.5 s"],
])("a duration of %d seconds is %s", (value, text) => expect(formatDuration(value)).toBe(text));

test.each([
  [512, "512 B"],
  [1536, "1.5 KB"],
  [10_485_760, "10 MB"],
])("%d bytes are %s", (value, text) => expect(formatBytes(value)).toBe(text));

test("a nonzero share is never shown as 0 %, and one below 1 never as 100 %", () => {
  expect([0, 0.0001, 0.123, 0.9999, 1].map(formatShare)).toEqual(["0%", "<0.1%", "12.3%", ">99.9%", "100%"]);
});

test("a number in a file has all its digits and no exponent", () => {
  const values = [3.6e-7, -1.25e-9, 5e-324, 0.1, 12, 1.5e21, 0, null];
  const texts = values.map(plainDecimal);
  expect(texts.slice(0, 2)).toEqual(["0.00000036", "-0.00000000125"]);
  expect(texts.slice(3)).toEqual(["0.1", "12", "1500000000000000000000", "0", ""]);
  expect(texts.slice(0, -1).map(Number)).toEqual(values.slice(0, -1));
});

test("a noun agrees with its number", () => {
  expect([0, 1, 2, 1200].map((count) => formatNumberOf(count, "span"))).toEqual([
    "0 spans",
    "1 span",
    "2 spans",
    "1,200 spans",
  ]);
});

import { expect, test } from "vitest";
import type { ChartData } from "./chart-data.ts";
import { plotData, pointsToShow, seriesAt } from "./plot-data.ts";

const series = (key: string, values: (number | null)[]) => ({
  key,
  label: key,
  color: "--chart-1",
  values,
  total: null,
  group: undefined,
});
const data: ChartData = {
  interval: "1h",
  starts: [0, 1, 2],
  ends: [1, 2, 3],
  series: [series("low", [1, null, 2]), series("high", [3, null, null])],
};
const none = new Set<string>();

test("bars are drawn from the highest edge down, lines in their order", () => {
  expect(plotData(data, "bars", none)).toEqual([
    [0, 1, 2],
    [4, null, null],
    [1, null, 2],
  ]);
  expect(plotData(data, "lines", new Set(["low"]))).toEqual([
    [0, 1, 2],
    [null, null, null],
    [3, null, null],
  ]);
});

test("a click selects the part of a bar under it, and nothing above the bar", () => {
  const at = (bucket: number, height: number, hidden = none) =>
    seriesAt(data, { shape: "bars", hidden, bucket, height })?.key;
  expect(at(0, 0.5)).toBe("low");
  expect(at(0, 3.9)).toBe("high");
  expect(at(0, 4.1)).toBeUndefined();
  expect(at(1, 0)).toBeUndefined();
  expect(at(0, 0.5, new Set(["low"]))).toBe("high");
});

test("a click selects the nearest visible line with a known value", () => {
  const at = (bucket: number, height: number, hidden = none) =>
    seriesAt(data, { shape: "lines", hidden, bucket, height })?.key;
  expect(at(0, 2.9)).toBe("high");
  expect(at(0, 1.2)).toBe("low");
  expect(at(2, 99)).toBe("low");
  expect(at(1, 1)).toBeUndefined();
  expect(at(0, 1, new Set(["low"]))).toBe("high");
});

test("single values and pairs between gaps have dots, longer lines have none", () => {
  expect(pointsToShow([1, null, 2, 3, 4, null, 5, 6])).toEqual([0, 6, 7]);
  expect(pointsToShow([null, 1, 2, 3])).toEqual([]);
  expect(pointsToShow([0])).toEqual([0]);
  expect(pointsToShow([])).toEqual([]);
});

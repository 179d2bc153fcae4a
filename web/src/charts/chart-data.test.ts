import { describe, expect, test } from "vitest";
import { bucketRange, seriesOfGroups, seriesOfMetrics, stack, sumOf, type Timeseries } from "./chart-data.ts";

const answer: Timeseries = {
  interval: "1h",
  buckets: ["2026-11-29T09:00:00Z", "2026-11-29T10:00:00Z", "2026-11-29T11:00:00Z"],
  series: [
    { group: { model: "gpt-4o" }, values: { total_cost: [1, null, 2] }, totals: { total_cost: 3 } },
    { group: { model: "new" }, values: { total_cost: [null, null, null] }, totals: { total_cost: null } },
    { group: { model: null }, values: { total_cost: [null, null, null] }, totals: { total_cost: null } },
  ],
  other: { values: { total_cost: [0.5, 0.25, null] }, totals: { total_cost: 0.75 } },
  window: { start_time: "2026-11-29T09:20:00Z", end_time: "2026-11-29T11:40:00Z" },
};

describe("series of groups", () => {
  test("omit the group without a name if it has no values, and end with all other groups", () => {
    const { series } = seriesOfGroups(answer, "total_cost");
    expect(series.map(({ label, total, values }) => ({ label, total, values }))).toEqual([
      { label: "gpt-4o", total: 3, values: [1, null, 2] },
      { label: "new", total: null, values: [null, null, null] },
      { label: "all others", total: 0.75, values: [0.5, 0.25, null] },
    ]);
    expect(new Set(series.map(({ key }) => key)).size).toBe(3);
  });

  test("a group named none or other differs from the missing value and from the other groups", () => {
    const group = (model: string | null) => ({ group: { model }, values: { n: [1] }, totals: { n: 1 } });
    const { series } = seriesOfGroups(
      {
        ...answer,
        series: [group("none"), group(null), group("other")],
        other: { values: { n: [1] }, totals: { n: 1 } },
      },
      "n",
    );
    expect(new Set(series.map(({ key }) => key)).size).toBe(4);
  });
});

test("metrics without a series in the response are unknown in every bucket", () => {
  const data = seriesOfMetrics({ ...answer, series: [] }, [{ metric: "p95_latency", label: "p95", color: "--x" }]);
  expect(data.series).toMatchObject([{ values: [null, null, null], total: null }]);
});

describe("a window that ends where a bucket begins", () => {
  const ending = (end_time: string): Timeseries => ({ ...answer, window: { ...answer.window, end_time } });
  const end = "2026-11-29T11:00:00.000Z";
  const shapeOf = ({ starts, ends, series }: ReturnType<typeof seriesOfGroups>) => [
    starts.length,
    ends.length,
    ...series.map(({ values }) => values.length),
  ];

  test.each([
    { name: "has no bucket for that instant", to: end, last: null, buckets: 2 },
    { name: "has none either for a count of 0", to: end, last: 0, buckets: 2 },
    { name: "has one if something happened then", to: end, last: 1, buckets: 3 },
    { name: "has one if it ends later", to: "2026-11-29T11:00:00.001Z", last: null, buckets: 3 },
  ])("$name", ({ to, last, buckets }) => {
    const series = [{ group: { model: "m" }, values: { n: [1, null, last] }, totals: { n: 1 } }];
    const other = { values: { n: [1, 2, null] }, totals: { n: 3 } };
    const timeseries = { ...ending(to), series, other };
    expect(shapeOf(seriesOfGroups(timeseries, "n"))).toEqual([buckets, buckets, buckets, buckets]);
    const one = seriesOfMetrics({ ...timeseries, other: null }, [{ metric: "n", label: "n", color: "--x" }]);
    expect(shapeOf(one)).toEqual([buckets, buckets, buckets]);
  });
});

describe("stacks", () => {
  const { series } = seriesOfGroups(answer, "total_cost");

  test("are built from known values and leave gaps where there are none", () => {
    expect(stack(series, new Set())).toEqual([
      [1, null, 2],
      [null, null, null],
      [1.5, 0.25, null],
    ]);
  });

  test("leave hidden series out", () => {
    expect(stack(series, new Set([series[0]!.key]))[2]).toEqual([0.5, 0.25, null]);
  });
});

test("a sum of unknown values is unknown", () => {
  expect(sumOf([null, null])).toBeNull();
  expect(sumOf([null, 0])).toBe(0);
});

describe("the time range of buckets", () => {
  const data = seriesOfGroups(answer, "total_cost");

  test("is clipped to that of the chart, and ends before the next bucket begins", () => {
    expect(bucketRange(data, 0, 0)).toEqual({ from: "2026-11-29T09:20:00.000Z", to: "2026-11-29T09:59:59.999Z" });
    expect(bucketRange(data, 2, 2)).toEqual({ from: "2026-11-29T11:00:00.000Z", to: "2026-11-29T11:40:00.000Z" });
  });

  test("is the same in either drag direction and for any distance", () => {
    expect(bucketRange(data, 9, -3)).toEqual({ from: "2026-11-29T09:20:00.000Z", to: "2026-11-29T11:40:00.000Z" });
    expect(bucketRange(data, 1, 0)).toEqual(bucketRange(data, 0, 1));
  });

  test("is undefined without buckets", () => {
    expect(bucketRange({ starts: [], ends: [] }, 0, 0)).toBeUndefined();
  });
});

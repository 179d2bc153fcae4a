import type { AlignedData } from "uplot";
import { stack, type ChartData, type ChartSeries, type Values } from "./chart-data.ts";

/** `bars` are stacked; `lines` are not. */
export type Shape = "bars" | "lines";

/**
 * The order in which uPlot draws; the first is at the back. In a stack the highest comes first, so that each covers all
 * but its own part.
 */
export function drawnSeries(series: readonly ChartSeries[], shape: Shape): ChartSeries[] {
  return shape === "bars" ? series.toReversed() : [...series];
}

/** Buckets are placed by index, not by time: a day of 25 hours is as wide as any other. */
export function plotData({ starts, series }: ChartData, shape: Shape, hidden: ReadonlySet<string>): AlignedData {
  const places = starts.map((_, at) => at);
  const rows = shape === "bars" ? stack(series, hidden).toReversed() : series.map((each) => shownValues(each, hidden));
  return [places, ...rows.map((row) => [...row])];
}

const shownValues = ({ key, values }: ChartSeries, hidden: ReadonlySet<string>): Values =>
  hidden.has(key) ? values.map(() => null) : values;

/** A line of so few values between gaps looks like a fragment of a longer one. */
const shortLine = 2;

/** Values whose line is so short, or missing, that a dot has to show them. */
export function pointsToShow(values: Values): number[] {
  const found: number[] = [];
  let line: number[] = [];
  for (let at = 0; at <= values.length; at += 1) {
    if ((values[at] ?? null) !== null) {
      line.push(at);
      continue;
    }
    if (line.length <= shortLine) found.push(...line);
    line = [];
  }
  return found;
}

/**
 * The series at a height of a bucket: the part of the stack that contains it, or the nearest line. Undefined above a
 * stack and if nothing is known.
 */
export function seriesAt(
  { series }: ChartData,
  { shape, hidden, bucket, height }: { shape: Shape; hidden: ReadonlySet<string>; bucket: number; height: number },
): ChartSeries | undefined {
  if (shape === "bars") {
    const edges = stack(series, hidden);
    return series.find((_, at) => (edges[at]?.[bucket] ?? Number.NEGATIVE_INFINITY) >= height);
  }
  const distance = ({ values }: ChartSeries) => Math.abs((values[bucket] ?? Number.POSITIVE_INFINITY) - height);
  const known = series.filter(({ key, values }) => !hidden.has(key) && (values[bucket] ?? null) !== null);
  return known.toSorted((one, other) => distance(one) - distance(other))[0];
}

import { visibleLine } from "../lib/visible-text.ts";
import { colorsOf, neutralColor } from "./series-colors.ts";

export type Values = readonly (number | null)[];

/** Identifies a series: the value of each field that it is grouped by. Null and "" are the absent value. */
export type Group = Readonly<Record<string, unknown>>;

type ApiPoints = {
  values: Readonly<Record<string, Values>>;
  totals: Readonly<Record<string, number | null>>;
};

/** The response of a time series route. */
export type Timeseries = {
  interval: string;
  buckets: readonly string[];
  series: readonly (ApiPoints & { group: Group })[];
  other: ApiPoints | null;
  window: { start_time: string; end_time: string };
};

export type ChartSeries = {
  /** Unique in its chart. */
  key: string;
  label: string;
  /** The name of a CSS variable. */
  color: string;
  values: Values;
  /** Over the whole window. */
  total: number | null;
  /** Undefined for the series without groups and for that of all other groups. */
  group: Group | undefined;
};

/** `starts` and `ends` are those of the buckets, in milliseconds, clipped to the window at both ends. */
export type ChartData = {
  interval: string;
  starts: readonly number[];
  ends: readonly number[];
  series: readonly ChartSeries[];
};

/** The series of one metric, one for each group. */
export function seriesOfGroups(answer: Timeseries, metric: string): ChartData {
  const timeseries = withoutEmptyEnd(answer);
  const labels = timeseries.series.map(({ group }) => groupLabel(group));
  const colors = colorsOf(labels.map((label) => label ?? ""));
  const series = timeseries.series.map(({ group, ...points }, at): ChartSeries => {
    const label = labels[at] ?? "none";
    const color = labels[at] === undefined ? neutralColor : (colors[at] ?? neutralColor);
    return { key: JSON.stringify(group), label, color, ...pointsOf(points, metric), group };
  });
  const { other } = timeseries;
  if (other !== null) {
    series.push({
      key: "other",
      label: "all others",
      color: neutralColor,
      ...pointsOf(other, metric),
      group: undefined,
    });
  }
  // A series of the absent value without any known total carries no information.
  const withValues = series.filter(
    ({ color, group, total }) => color !== neutralColor || group === undefined || total !== null,
  );
  return { ...bucketsOf(timeseries), series: withValues };
}

/** Several metrics of the series without groups. */
export function seriesOfMetrics(
  answer: Timeseries,
  metrics: readonly { metric: string; label: string; color: string }[],
): ChartData {
  const timeseries = withoutEmptyEnd(answer);
  const [all] = timeseries.series;
  const empty = { values: {}, totals: {} };
  const series = metrics.map(({ metric, label, color }) => ({
    key: metric,
    label,
    color,
    ...pointsOf(all ?? empty, metric, timeseries.buckets.length),
    group: undefined,
  }));
  return { ...bucketsOf(timeseries), series };
}

/**
 * Both ends of a window are inclusive, so a window that ends where a bucket begins has one more bucket, of a single
 * instant. Leaves it out, unless something is in it.
 */
function withoutEmptyEnd(timeseries: Timeseries): Timeseries {
  const { buckets, series, other, window } = timeseries;
  const last = buckets.length - 1;
  if (last < 1 || Date.parse(buckets[last] ?? "") < Date.parse(window.end_time)) return timeseries;
  const all = other === null ? series : [...series, other];
  const isEmpty = all.every(({ values }) => Object.values(values).every((each) => (each[last] ?? 0) === 0));
  if (!isEmpty) return timeseries;
  const shorter = <T extends ApiPoints>(points: T): T => ({
    ...points,
    values: Object.fromEntries(Object.entries(points.values).map(([name, each]) => [name, each.slice(0, last)])),
  });
  return {
    ...timeseries,
    buckets: buckets.slice(0, last),
    series: series.map(shorter),
    other: other === null ? null : shorter(other),
  };
}

function pointsOf(
  { values, totals }: ApiPoints,
  metric: string,
  buckets = 0,
): { values: Values; total: number | null } {
  return { values: values[metric] ?? Array.from({ length: buckets }, () => null), total: totals[metric] ?? null };
}

function bucketsOf({ interval, buckets, window }: Timeseries): Omit<ChartData, "series"> {
  const from = Date.parse(window.start_time);
  const to = Date.parse(window.end_time);
  const starts = buckets.map((bucket) => Date.parse(bucket));
  return {
    interval,
    starts: starts.map((start) => Math.max(start, from)),
    ends: starts.map((_, at) => Math.min(starts[at + 1] ?? to, to)),
  };
}

/** Undefined if every field of the group is absent. */
function groupLabel(group: Group): string | undefined {
  const texts = Object.values(group).map((value) => (isAbsent(value) ? "none" : visibleLine(String(value))));
  return Object.values(group).every(isAbsent) ? undefined : texts.join(" · ");
}

export const isAbsent = (value: unknown): boolean => value === null || value === undefined || value === "";

/**
 * The upper edge of each visible series when stacked on those before it; hidden series are null. A bucket without known
 * values has no edge.
 */
export function stack(series: readonly Pick<ChartSeries, "key" | "values">[], hidden: ReadonlySet<string>): Values[] {
  const heights: number[] = [];
  return series.map(({ key, values }) =>
    values.map((value, at) => {
      if (hidden.has(key) || value === null) return null;
      const height = (heights[at] ?? 0) + value;
      heights[at] = height;
      return height;
    }),
  );
}

/** Null if no value is known. */
export function sumOf(values: Values): number | null {
  return values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);
}

/** The time range from one bucket to another, in either order, including both. */
export function bucketRange({ starts, ends }: Pick<ChartData, "starts" | "ends">, one: number, other: number) {
  const last = starts.length - 1;
  const clamp = (at: number) => Math.min(last, Math.max(0, Math.round(at)));
  const [from, to] = one <= other ? [clamp(one), clamp(other)] : [clamp(other), clamp(one)];
  const start = starts[from];
  const end = ends[to];
  if (start === undefined || end === undefined) return undefined;
  // A range includes both ends, and the next bucket begins where this one ends.
  return { from: new Date(start).toISOString(), to: new Date(to === last ? end : end - 1).toISOString() };
}

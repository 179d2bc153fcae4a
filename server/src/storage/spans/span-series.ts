import type { SpanCondition, SpanSelection } from "./span-store.ts";

/** The metrics of a point of a time series, or of a group of spans. */
export const spanMetrics = [
  "number_of_requests",
  "error_count",
  "total_cost",
  "total_tokens",
  "total_prompt_tokens",
  "total_completion_tokens",
  "prompt_cache_hit_tokens",
  "unpriced_count",
  "number_of_customers",
  "number_of_traces",
  "error_percentage",
  "cache_hit_percentage",
  "average_cost",
  "average_tokens",
  "average_latency",
  "p50_latency",
  "p90_latency",
  "p95_latency",
  "p99_latency",
  "average_time_to_first_token",
  "p50_time_to_first_token",
  "p90_time_to_first_token",
  "p95_time_to_first_token",
  "p99_time_to_first_token",
  "average_tokens_per_second",
  "p50_tokens_per_second",
  "p90_tokens_per_second",
  "p95_tokens_per_second",
  "p99_tokens_per_second",
] as const;
export type SpanMetric = (typeof spanMetrics)[number];

export type PercentileMetric = Extract<SpanMetric, `p${number}_${string}`>;
export const isPercentile = (metric: SpanMetric): metric is PercentileMetric => /^p\d\d_/.test(metric);
export const percentileMetrics: readonly PercentileMetric[] = spanMetrics.filter(isPercentile);

/** Null if no span has a value. */
export type Percentiles = Record<PercentileMetric, number | null>;

/** Metrics that are 0 without spans; all others are unknown then. */
export const countMetrics: ReadonlySet<SpanMetric> = new Set<SpanMetric>([
  "number_of_requests",
  "error_count",
  "total_tokens",
  "total_prompt_tokens",
  "total_completion_tokens",
  "prompt_cache_hit_tokens",
  "unpriced_count",
  "number_of_customers",
  "number_of_traces",
]);

/** A column, `trace`, `thread` or `metadata__<key>`. */
export type SeriesKey = string;

/** How data is charted. */
export type SeriesQuery<Metric extends string> = {
  /**
   * The starts of the buckets in seconds since 1970, ascending, at least one; the first is at or before the start of
   * the window.
   */
  starts: readonly number[];
  groupBy: readonly SeriesKey[];
  metrics: readonly Metric[];
  /** The most series, besides the one of all others; the largest by `rankBy`. */
  top: number;
  rankBy: Metric;
  /**
   * For reads that nobody waits for and that hardly ever have more groups than `top`: one statement then reads them, on
   * one core.
   */
  isInBackground?: boolean;
};

/** `scores`: evaluators, by id or slug, whose scores are averaged. */
export type SpanSeriesQuery = SpanSelection & SeriesQuery<SpanMetric> & { scores: readonly string[] };

/**
 * The same for several filters in one read. Their parameters have distinct names; undefined means no filter. `top` is
 * the most groups of all filters together.
 */
export type SplitSeriesQuery = Omit<SpanSeriesQuery, "filter" | "scores" | "rankBy" | "isInBackground"> & {
  filters: ReadonlyArray<SpanCondition | undefined>;
};

/** By metric, and `scores__<evaluator>`. Null is unknown. */
export type SeriesPoint = Record<string, number | null>;

export type SpanSeries = {
  /** The value of each key; '' is an absent value. Traces and threads also have their `environment`. */
  group: Record<string, string | number | null>;
  /** By the index of their bucket in `starts`; buckets without spans are absent. */
  points: ReadonlyMap<number, SeriesPoint>;
  /** Over the whole window; undefined if there are no spans. */
  totals: SeriesPoint | undefined;
};

/** `other` is undefined if every group has its own series. */
export type SpanSeriesResult = { series: SpanSeries[]; other: Omit<SpanSeries, "group"> | undefined };

/** The part of `SpanStore` about series of spans. */
export type SpanSeriesReads = {
  /** Spans by time bucket and by group. */
  spanSeries(query: SpanSeriesQuery, signal?: AbortSignal): Promise<SpanSeriesResult>;

  /** All groups of the spans of each filter; undefined if there are too many. */
  splitSeries(query: SplitSeriesQuery, signal?: AbortSignal): Promise<SpanSeries[][] | undefined>;
};

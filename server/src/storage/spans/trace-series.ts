import { traceTexts } from "../../domain/trace.ts";
import type { SeriesQuery } from "./span-series.ts";
import type { ListTracesQuery } from "./trace-queries.ts";

/** The metrics of a point of a time series of traces. */
export const traceMetrics = [
  "number_of_traces",
  "number_of_failed_traces",
  "span_count",
  "llm_call_count",
  "error_count",
  "total_cost",
  "total_tokens",
  "total_prompt_tokens",
  "total_completion_tokens",
  "unpriced_count",
  "number_of_customers",
  "error_percentage",
  "average_cost",
  "average_tokens",
  "average_duration",
  "p50_duration",
  "p90_duration",
  "p95_duration",
  "p99_duration",
] as const;
export type TraceMetric = (typeof traceMetrics)[number];

/** Metrics that are 0 without traces; all others are unknown then. */
export const traceCountMetrics: ReadonlySet<TraceMetric> = new Set<TraceMetric>([
  "number_of_traces",
  "number_of_failed_traces",
  "span_count",
  "llm_call_count",
  "error_count",
  "total_tokens",
  "total_prompt_tokens",
  "total_completion_tokens",
  "unpriced_count",
  "number_of_customers",
]);

/** The fields that traces can be grouped by, besides the keys of metadata. */
export const traceGroupings = [...traceTexts, "name", "environment"] as const;

/** A trace has the time of its last span. A trace that continues after the window belongs to the last bucket. */
export type TraceSeriesQuery = Pick<ListTracesQuery, "scope" | "window" | "condition" | "edits"> &
  SeriesQuery<TraceMetric>;

import type { SpanMetric } from "../span-series.ts";
import { isError, isUnpriced, rowUsage, sumOf } from "./usage.ts";

const percentage = (condition: string) => `if(count() = 0, NULL, round(100 * countIf(${condition}) / count(), 6))`;
const distinct = (column: string) => `uniqExactIf((environment, ${column}), ${column} != '')`;

function distribution<Column extends "latency" | "time_to_first_token" | "tokens_per_second">(column: Column) {
  // Interpolated, as spreadsheets and numpy do it.
  const quantile = (level: number) => `round(quantileExactInclusive(${level})(${column}), 9)`;
  return {
    [`average_${column}`]: `round(avg(${column}), 9)`,
    [`p50_${column}`]: quantile(0.5),
    [`p90_${column}`]: quantile(0.9),
    [`p95_${column}`]: quantile(0.95),
    [`p99_${column}`]: quantile(0.99),
  } as Record<`${"average" | "p50" | "p90" | "p95" | "p99"}_${Column}`, string>;
}

/** Each metric as an aggregate over rows of `countedSpans`. NULL and NaN are unknown. */
export const metricSql: Record<SpanMetric, string> = {
  number_of_requests: "count()",
  error_count: `countIf(${isError})`,
  total_cost: `if(count(${rowUsage.cost}) = 0, NULL, round(sum(${rowUsage.cost}), 12))`,
  total_tokens: sumOf(rowUsage.totalTokens),
  total_prompt_tokens: sumOf(rowUsage.promptTokens),
  total_completion_tokens: sumOf(rowUsage.completionTokens),
  prompt_cache_hit_tokens: sumOf("if(counts_tokens = 1, prompt_cache_hit_tokens, NULL)"),
  unpriced_count: `countIf(${isUnpriced})`,
  number_of_customers: distinct("customer_identifier"),
  number_of_traces: distinct("trace_unique_id"),
  error_percentage: percentage(isError),
  cache_hit_percentage: percentage("ifNull(cache_hit, 0)"),
  average_cost: `round(avg(${rowUsage.cost}), 12)`,
  average_tokens: `avg(${rowUsage.totalTokens})`,
  ...distribution("latency"),
  ...distribution("time_to_first_token"),
  ...distribution("tokens_per_second"),
};

/** Metrics for which it matters whom a span counts for. */
export const identityMetrics: ReadonlySet<SpanMetric> = new Set<SpanMetric>(["number_of_customers"]);

/** A metric as the engine gave it: 64-bit integers come as text, and what is unknown as null or NaN. */
export function metricValue(value: unknown): number | null {
  const number = value === null || value === undefined ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}

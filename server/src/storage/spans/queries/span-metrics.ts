import type { ResultRow } from "../drivers/span-database.ts";
import { isPercentile, type PercentileMetric, type SpanMetric } from "../span-series.ts";
import { figureAlias } from "./figures.ts";
import { isError, isUnpriced, rowUsage, sumOf } from "./usage.ts";

const percentage = (condition: string) => `if(count() = 0, NULL, round(100 * countIf(${condition}) / count(), 6))`;
// Sets of 64 bits take a third of the time and of the memory of sets of texts.
const distinct = (column: string) => `uniqExactIf(cityHash64(environment, ${column}), ${column} != '')`;
const average = (column: string) => `round(avg(${column}), 9)`;

/** Metrics as aggregates over rows of `countedSpans`. NULL and NaN are unknown. */
const metricSql: Record<Exclude<SpanMetric, PercentileMetric>, string> = {
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
  average_latency: average("latency"),
  average_time_to_first_token: average("time_to_first_token"),
  average_tokens_per_second: average("tokens_per_second"),
};

/** What a statement selects to read metrics. */
export function selectMetrics(metrics: readonly SpanMetric[]): string[] {
  const percentiles = percentileSql(metrics.filter(isPercentile), (column) => column);
  return metrics.map((name) => `${isPercentile(name) ? percentiles(name) : metricSql[name]} AS ${figureAlias(name)}`);
}

/**
 * Percentiles `p<level>_<name>` as aggregates, interpolated as spreadsheets and numpy do it. Those of one column are read
 * from one aggregate, which holds its values once.
 */
export function percentileSql<Name extends `p${number}_${string}`>(
  all: readonly Name[],
  columnOf: (name: string) => string,
): (name: Name) => string {
  const read = (name: Name) => ({ level: Number(name.slice(1, 3)) / 100, column: columnOf(name.slice(4)) });
  return (name) => {
    const { level, column } = read(name);
    const levels = all.map(read).flatMap((other) => (other.column === column ? [other.level] : []));
    return `round(quantilesExactInclusive(${levels.join(", ")})(${column})[${levels.indexOf(level) + 1}], 9)`;
  };
}

/** The named metrics of a row. */
export function metricsOf<Name extends string>(row: ResultRow, names: readonly Name[]): Record<Name, number | null> {
  const values = names.map((name) => [name, metricValue(row[figureAlias(name)])]);
  return Object.fromEntries(values) as Record<Name, number | null>;
}

/** Metrics for which it matters whom a span counts for. */
export const identityMetrics: ReadonlySet<SpanMetric> = new Set<SpanMetric>(["number_of_customers"]);

/** A metric as the engine gave it: 64-bit integers come as text, and what is unknown as null or NaN. */
export function metricValue(value: unknown): number | null {
  const number = value === null || value === undefined ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}

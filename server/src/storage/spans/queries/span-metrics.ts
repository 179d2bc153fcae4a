import type { ResultRow } from "../drivers/span-database.ts";
import { isPercentile, type PercentileMetric, type SpanMetric } from "../span-series.ts";
import { figureAlias } from "./figures.ts";
import { isError, isUnpriced, rowUsage, sumOf } from "./usage.ts";

const percentage = (condition: string) => `if(count() = 0, NULL, round(100 * countIf(${condition}) / count(), 6))`;
// Sets of 64-bit hashes take a third of the time and memory of sets of texts.
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

/** The expressions that a statement selects to read metrics. */
export const selectMetrics = (metrics: readonly SpanMetric[]): string[] => [
  ...metrics.filter((name) => !isPercentile(name)).map((name) => `${metricSql[name]} AS ${figureAlias(name)}`),
  ...selectPercentiles(metrics, (column) => column),
];

/**
 * The percentiles `p<level>_<name>` among metrics as aggregates, interpolated as in spreadsheets and numpy: one list
 * for each column, which the engine plans faster than one expression for each level. `of`: the type of the columns.
 */
export function selectPercentiles(
  metrics: readonly string[],
  columnOf: (name: string) => string,
  of: "" | "Array" = "",
): string[] {
  return [...levelsOf(metrics)].map(
    ([name, levels]) =>
      `arrayMap(value -> round(value, 9), quantilesExactInclusive${of}(${levels.map((level) => level / 100).join(", ")})(${columnOf(name)})) AS ${levelsAlias(name)}`,
  );
}

const percentilePattern = /^p(\d\d)_(.+)$/;
const levelsAlias = (name: string) => figureAlias(`levels_${name}`);

/** The requested levels of each name, in their order. */
function levelsOf(metrics: readonly string[]): Map<string, number[]> {
  const levels = new Map<string, number[]>();
  for (const metric of metrics) {
    const [, level, name] = percentilePattern.exec(metric) ?? [];
    if (name !== undefined) levels.set(name, [...(levels.get(name) ?? []), Number(level)]);
  }
  return levels;
}

/** Reads metrics from a row whose statement selected them. */
export function metricsOf<Name extends string>(row: ResultRow, names: readonly Name[]): Record<Name, number | null> {
  const values = Object.fromEntries(names.map((name) => [name, metricValue(row[figureAlias(name)])]));
  for (const [name, levels] of levelsOf(names)) {
    const found = row[levelsAlias(name)];
    if (!Array.isArray(found)) continue;
    for (const [index, level] of levels.entries()) {
      values[`p${String(level).padStart(2, "0")}_${name}`] = metricValue(found[index]);
    }
  }
  return values as Record<Name, number | null>;
}

/** Metrics that depend on whom a span counts for. */
export const identityMetrics: ReadonlySet<SpanMetric> = new Set<SpanMetric>(["number_of_customers"]);

/** Reads a metric: the engine returns 64-bit integers as text, and unknown values as null or NaN. */
export function metricValue(value: unknown): number | null {
  const number = value === null || value === undefined ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}

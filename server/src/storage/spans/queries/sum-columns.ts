import { isPercentile, type PercentileMetric, type SpanMetric } from "../span-series.ts";
import { figureAlias } from "./figures.ts";
import { selectPercentiles } from "./span-metrics.ts";
import { isError, isUnpriced, rowUsage, sumOf } from "./usage.ts";

/** The length of a slot and of an hour of sums. */
export const slotSeconds = 300;
export const hourSeconds = 3_600;

export const startOf = (seconds: number) =>
  `intDiv(toUnixTimestamp64Nano(timestamp), ${seconds}000000000) * ${seconds}`;

/**
 * The slot of a row of spans or of counts, in seconds since 1970. It must be monotonic over all times that a table can
 * have, including before 1970 and after 2106: the engine searches the key by it, and a part has rows of all
 * organizations.
 */
export const slotOf = startOf(slotSeconds);

/** A condition on slots. The numbers are computed by Spanway, never from user text, so they need no bound parameters. */
export const slotIn = (slots: readonly number[], slot = slotOf): string => `(${slot}) IN (${slots.join(", ")})`;

const distinct = (column: string) => `groupUniqArrayIf(cityHash64(environment, ${column}), ${column} != '')`;

/**
 * The stored columns of a slot, as aggregates over rows of `countedSpans`. No name is that of a column of spans,
 * because an alias would hide the column.
 */
const sumColumns = {
  sum_requests: "count()",
  sum_errors: `countIf(${isError})`,
  sum_unpriced: `countIf(${isUnpriced})`,
  sum_cache_hits: "countIf(ifNull(cache_hit, 0))",
  sum_cost: sumOf(rowUsage.cost),
  sum_costs: `count(${rowUsage.cost})`,
  sum_total_tokens: sumOf(rowUsage.totalTokens),
  sum_token_rows: `count(${rowUsage.totalTokens})`,
  sum_prompt_tokens: sumOf(rowUsage.promptTokens),
  sum_completion_tokens: sumOf(rowUsage.completionTokens),
  sum_cached_tokens: sumOf("if(counts_tokens = 1, prompt_cache_hit_tokens, NULL)"),
  sum_latency: sumOf("latency"),
  sum_first_token: sumOf("time_to_first_token"),
  sum_speed: sumOf("tokens_per_second"),
  latencies: "groupArray(latency)",
  first_tokens: "groupArray(time_to_first_token)",
  speeds: "groupArray(tokens_per_second)",
  customers: distinct("customer_identifier"),
  traces: distinct("trace_unique_id"),
  first: "min(timestamp)",
  last: "max(timestamp)",
};

export const sumColumnNames: readonly string[] = Object.keys(sumColumns);

/** Rows of sums of `seconds` each, made from rows of `countedSpans`. */
export function sumRows(spans: string, seconds = slotSeconds): string {
  const columns = Object.entries(sumColumns).map(([name, sql]) => `${sql} AS ${name}`);
  return `SELECT toDateTime(${startOf(seconds)}, 'UTC') AS slot, environment, model, ${columns.join(", ")}
    FROM ${spans} GROUP BY slot, environment, model`;
}

const total = (name: string) => `sum(${name})`;
/** NaN if the sum of `count` is 0. */
const ratio = (sum: string, count: string) => `sum(${sum}) / sum(${count})`;
const rounded = (sql: string, digits: number) => `round(${sql}, ${digits})`;
const percentage = (name: string) => rounded(ratio(`100 * ${name}`, "sum_requests"), 6);

/** The columns with the values of distributions. */
const values: Record<string, string> = {
  latency: "latencies",
  time_to_first_token: "first_tokens",
  tokens_per_second: "speeds",
};
const averages = {
  latency: ratio("sum_latency", "length(latencies)"),
  time_to_first_token: ratio("sum_first_token", "length(first_tokens)"),
  tokens_per_second: ratio("sum_speed", "length(speeds)"),
};

const cost = rounded("sum(sum_cost)", 12);
const averageCost = rounded(ratio("sum_cost", "sum_costs"), 12);
const averageTokens = ratio("sum_total_tokens", "sum_token_rows");
const counts = {
  number_of_requests: total("sum_requests"),
  error_count: total("sum_errors"),
  total_tokens: total("sum_total_tokens"),
  total_prompt_tokens: total("sum_prompt_tokens"),
  total_completion_tokens: total("sum_completion_tokens"),
  unpriced_count: total("sum_unpriced"),
  number_of_customers: "uniqExactArray(customers)",
};

/** Metrics as aggregates over rows of sums, as `span-metrics.ts` has them over spans. */
const metricSql: Record<Exclude<SpanMetric, PercentileMetric>, string> = {
  ...counts,
  total_cost: `if(sum(sum_costs) = 0, NULL, ${cost})`,
  prompt_cache_hit_tokens: total("sum_cached_tokens"),
  number_of_traces: "uniqExactArray(traces)",
  error_percentage: percentage("sum_errors"),
  cache_hit_percentage: percentage("sum_cache_hits"),
  average_cost: averageCost,
  average_tokens: averageTokens,
  average_latency: rounded(averages.latency, 9),
  average_time_to_first_token: rounded(averages.time_to_first_token, 9),
  average_tokens_per_second: rounded(averages.tokens_per_second, 9),
};

const known = (average: string) => `ifNotFinite(${average}, 0)`;

/** The figures of summaries and groups, which are 0 instead of unknown. */
const figureSql = {
  ...counts,
  span_count: counts.number_of_requests,
  total_cost: cost,
  cache_hit_count: total("sum_cache_hits"),
  error_percentage: known(metricSql.error_percentage),
  cache_hit_percentage: known(metricSql.cache_hit_percentage),
  average_cost: known(averageCost),
  average_tokens: known(averageTokens),
  average_latency: known(averages.latency),
  avg_latency: known(averages.latency),
  average_ttft: known(averages.time_to_first_token),
  avg_ttft: known(averages.time_to_first_token),
  average_tps: known(averages.tokens_per_second),
  avg_tps: known(averages.tokens_per_second),
};
export type SumFigure = keyof typeof figureSql;

export const figuresOfSums = (names: readonly SumFigure[]): string[] =>
  names.map((name) => `${figureSql[name]} AS ${figureAlias(name)}`);

export const timesOfSums: readonly string[] = [
  `min(first) AS ${figureAlias("first_timestamp")}`,
  `max(last) AS ${figureAlias("last_timestamp")}`,
];

export const metricsOfSums = (names: readonly SpanMetric[]): string[] => [
  ...names.filter((name) => !isPercentile(name)).map((name) => `${metricSql[name]} AS ${figureAlias(name)}`),
  ...selectPercentiles(names, (name) => values[name] ?? name, "Array"),
];

import type { TraceNumber } from "../../../domain/trace.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanSeriesResult } from "../span-series.ts";
import type { TraceMetric, TraceSeriesQuery } from "../trace-series.ts";
import { countedSpans, paramsOfParts, type CountedPart, type Counts } from "./counted-spans.ts";
import { figureAlias } from "./figures.ts";
import { conditionParams, groupMatches } from "./group-condition.ts";
import { keysFrom, metadataKey, type Key } from "./group-keys.ts";
import { traceSpans } from "./list-traces.ts";
import { readOnce, type Once } from "./once.ts";
import { readSeries } from "./read-series.ts";
import { inWindow } from "./selection.ts";
import { selectPercentiles } from "./span-metrics.ts";
import { traceFigures, traceText } from "./trace-figures.ts";
import { rowUsage } from "./usage.ts";

/** The column of a trace's figure, distinct from the metric of the same name. */
const traceColumn = (name: string) => `trace_${name}`;

const sum = (name: TraceNumber) => `sum(${traceColumn(name)})`;
const isFailed = `${traceColumn("error_count")} > 0`;
const isPriced = `${traceColumn("priced")} > 0`;
const customer = traceColumn("customer_identifier");

type Percentile = Extract<TraceMetric, `p${number}_${string}`>;
const isPercentile = (name: TraceMetric): name is Percentile => /^p\d\d_/.test(name);

/** Metrics as aggregates over traces, the rows of `tracesOf`. */
const metricSql: Record<Exclude<TraceMetric, Percentile>, string> = {
  number_of_traces: "count()",
  number_of_failed_traces: `countIf(${isFailed})`,
  span_count: sum("span_count"),
  llm_call_count: sum("llm_call_count"),
  error_count: sum("error_count"),
  total_cost: `if(countIf(${isPriced}) = 0, NULL, round(${sum("total_cost")}, 12))`,
  total_tokens: sum("total_tokens"),
  total_prompt_tokens: sum("total_prompt_tokens"),
  total_completion_tokens: sum("total_completion_tokens"),
  unpriced_count: sum("unpriced_count"),
  number_of_customers: `uniqExactIf(cityHash64(environment, ${customer}), ${customer} != '')`,
  error_percentage: `if(count() = 0, NULL, round(100 * countIf(${isFailed}) / count(), 6))`,
  average_cost: `round(avgIf(${traceColumn("total_cost")}, ${isPriced}), 12)`,
  average_tokens: `avg(${traceColumn("total_tokens")})`,
  average_duration: `round(avg(${traceColumn("duration")}), 9)`,
};

const selectMetrics = (metrics: readonly TraceMetric[]): string[] => [
  ...metrics.filter((name) => !isPercentile(name)).map((name) => `${metricSql[name]} AS ${figureAlias(name)}`),
  ...selectPercentiles(metrics, traceColumn),
];

/** Series of the traces that the list has for the same window and filters. */
export async function traceSeries(
  database: SpanDatabase,
  query: TraceSeriesQuery,
  signal?: AbortSignal,
): Promise<SpanSeriesResult> {
  const parts = await traceSpans(database, query, signal);
  const grouped = query.groupBy.map(groupKey);
  const figures = Object.assign({}, ...grouped.map((key) => key.figures)) as Figures;
  const keys = keysFrom(grouped);
  const params = {
    ...conditionParams(query.condition),
    ...paramsOfParts(parts),
    ...inWindow(query.window).params,
    ...keys.params,
  };
  const read = async (once: Once, counts: Counts) => {
    const rows = tracesOf(query, { parts, figures }, { once, counts });
    return await readSeries(database, { query, rows, keys, params, select: selectMetrics }, signal);
  };
  return await readOnce(database, { parts, counts: "usage" }, read, signal);
}

type Figures = Record<string, string>;

/** A key of the groups, and the figures that it needs besides those that every trace has. */
function groupKey(name: string, index: number): Key & { figures: Figures } {
  const inMetadata = metadataKey(name, index);
  if (inMetadata === undefined) return { name, sql: name === "environment" ? name : traceColumn(name), figures: {} };
  const figure = `group_${index}`;
  return { ...inMetadata, sql: traceColumn(figure), figures: { [figure]: traceText(inMetadata.sql) } };
}

/** The engine does not compute figures that are not read. */
function tracesOf(
  { window, condition }: TraceSeriesQuery,
  { parts, figures: more }: { parts: readonly CountedPart[]; figures: Figures },
  { once, counts }: { once: Once; counts: Counts },
): string {
  const figures: Figures = { ...traceFigures, ...more, priced: `count(${rowUsage.cost})` };
  const select = [
    ...Object.entries(figures).map(([name, sql]) => `${sql} AS ${figureAlias(name)}`),
    ...groupMatches(condition),
  ];
  // The time range is wider than the window, so a trace may have no span in the window.
  const columns = Object.keys(figures).map((name) => `${figureAlias(name)} AS ${traceColumn(name)}`);
  return `(SELECT environment, ${traceColumn("timestamp")} AS timestamp, ${columns.join(", ")} FROM (
    SELECT trace_unique_id, environment, ${select.join(", ")} FROM ${countedSpans(parts, once, counts)}
    GROUP BY trace_unique_id, environment
    HAVING countIf(${inWindow(window).sql}) > 0 AND (${condition?.having.sql ?? "1"})))`;
}

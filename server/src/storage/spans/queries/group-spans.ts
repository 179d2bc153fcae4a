import { limits } from "../../../limits.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import { percentileMetrics } from "../span-series.ts";
import type { GroupSpansQuery, SpanGroup, SpanGroupSortField } from "../span-store.ts";
import { spanGroupSortFields } from "../span-store.ts";
import { figureAlias, figuresOf, selectFigures } from "./figures.ts";
import { groupKeys, type GroupKeys } from "./group-keys.ts";
import { countedSpans, paramsOfParts, readsIdentity, type CountedPart, type Counts } from "./counted-spans.ts";
import { readOnce, type Once } from "./once.ts";
import { partOf } from "./selection.ts";
import { metricsOf, selectMetrics } from "./span-metrics.ts";
import { averageCost, averageOf, isError, isUnpriced, rowUsage, sumOf, sumOfCost } from "./usage.ts";

const percentage = (condition: string) => `round(100 * countIf(${condition}) / count(), 6)`;

const figures: Record<SpanGroupSortField, string> = {
  number_of_requests: "count()",
  span_count: "count()",
  total_cost: sumOfCost,
  total_tokens: sumOf(rowUsage.totalTokens),
  total_prompt_tokens: sumOf(rowUsage.promptTokens),
  total_completion_tokens: sumOf(rowUsage.completionTokens),
  error_count: `countIf(${isError})`,
  error_percentage: percentage(isError),
  average_cost: averageCost,
  average_tokens: averageOf(rowUsage.totalTokens),
  average_latency: averageOf("latency"),
  average_ttft: averageOf("time_to_first_token"),
  average_tps: averageOf("tokens_per_second"),
  cache_hit_percentage: percentage("ifNull(cache_hit, 0)"),
  unpriced_count: `countIf(${isUnpriced})`,
  first_timestamp: "min(timestamp)",
  last_timestamp: "max(timestamp)",
};
const select = selectFigures(figures);

export async function groupSpans(
  database: SpanDatabase,
  query: GroupSpansQuery,
  signal?: AbortSignal,
): Promise<{ count: number; rows: SpanGroup[] }> {
  const keys = groupKeys(query.groupBy, query.search);
  const parts = [partOf(query)];
  const direction = query.sort.descending ? "DESC" : "ASC";
  const offset = (query.page - 1) * query.pageSize;
  const read = async (once: Once, counts: Counts) => {
    const page = await database.query(
      {
        name: "group",
        sql: `SELECT ${[...keys.select, `${keys.textOfNames} AS group_text`, ...select].join(", ")} FROM ${countedSpans(parts, once, counts)} WHERE ${keys.where}
        GROUP BY ${keys.names.join(", ")} ORDER BY ${[`${figureAlias(query.sort.field)} ${direction}`, ...keys.names].join(", ")}
        LIMIT ${Math.min(query.pageSize, limits.groupRowsMax)} OFFSET ${offset}`,
        params: { ...paramsOfParts(parts), ...keys.params },
        settings: { exact_rows_before_limit: 1 },
      },
      signal,
    );
    const texts = page.rows.map(textOf);
    const spans = countedSpans(parts, once, counts === "all" ? "all" : "none");
    return { page, percentiles: await readPercentiles(database, { spans, texts, keys, parts }, signal) };
  };
  const counts = keys.isByIdentity || readsIdentity(query.filter) ? "all" : "usage";
  const { page, percentiles } = await readOnce(database, { parts, counts }, read, signal);
  return {
    count: page.rowsBeforeLimit ?? page.rows.length,
    rows: page.rows.map((row) => ({
      key: keys.valuesOf(row),
      text: textOf(row),
      ...figuresOf(row, countedFields),
      ...metricsOf(percentiles.get(textOf(row)) ?? {}, percentileMetrics),
      first_timestamp: String(row[figureAlias("first_timestamp")]),
      last_timestamp: String(row[figureAlias("last_timestamp")]),
    })),
  };
}

const textOf = (row: ResultRow) => String(row["group_text"]);

/** Of the groups of one page: of all they would hold every value of every group in memory. */
async function readPercentiles(
  database: SpanDatabase,
  from: { spans: string; texts: readonly string[]; keys: GroupKeys; parts: readonly CountedPart[] },
  signal?: AbortSignal,
): Promise<Map<string, ResultRow>> {
  const { spans, texts, keys, parts } = from;
  if (texts.length === 0) return new Map();
  const { rows } = await database.query(
    {
      name: "group_percentiles",
      sql: `SELECT ${keys.text} AS group_text, ${selectMetrics(percentileMetrics).join(", ")} FROM ${spans}
        WHERE ${keys.where} AND group_text IN {group_texts:Array(String)} GROUP BY group_text`,
      params: { ...paramsOfParts(parts), ...keys.params, group_texts: texts },
    },
    signal,
  );
  return new Map(rows.map((row) => [textOf(row), row]));
}

type CountedField = Exclude<SpanGroupSortField, "first_timestamp" | "last_timestamp">;
const countedFields = spanGroupSortFields.filter((field): field is CountedField => !field.endsWith("_timestamp"));

import { storageLimits } from "../../limits.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import { percentileMetrics } from "../span-series.ts";
import type { GroupSpansQuery, SpanGroup, SpanGroupSortField, StatementParams } from "../span-store.ts";
import { spanGroupSortFields } from "../span-store.ts";
import { figureAlias, figuresOf, selectFigures } from "./figures.ts";
import { groupKeys, type GroupKeys } from "./group-keys.ts";
import { countedSpans, paramsOfParts, readsIdentity, type Counts } from "./counted-spans.ts";
import { readOnce, type Once } from "./once.ts";
import { partOf } from "./selection.ts";
import { metricsOf, selectMetrics } from "./span-metrics.ts";
import { findSums, isBySumKeys } from "./stored-sums.ts";
import { figuresOfSums, metricsOfSums, timesOfSums } from "./sum-columns.ts";
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
  const stored = await findSums(database, query, signal);
  if (stored !== undefined) {
    const page = [...figuresOfSums(countedFields), ...timesOfSums];
    const figures = { page, percentiles: metricsOfSums(percentileMetrics) };
    return await stored.read(async (rows, params) => {
      const from = { page: rows, percentiles: rows, params: { ...params, ...keys.params } };
      return await readPage(database, { query, keys, from, figures }, signal);
    }, signal);
  }
  const parts = [partOf(query)];
  const counts = keys.isByIdentity || readsIdentity(query.filter) ? "all" : "usage";
  const figures = { page: select, percentiles: selectMetrics(percentileMetrics) };
  const read = async (once: Once, known: Counts) => {
    const from = {
      page: countedSpans(parts, once, known),
      percentiles: countedSpans(parts, once, known === "all" ? "all" : "none"),
      params: { ...paramsOfParts(parts), ...keys.params },
    };
    return await readPage(database, { query, keys, from, figures }, signal);
  };
  return await readOnce(database, { parts, counts }, read, signal);
}

/** The source of a page of groups: sources for FROM, and figures over their rows. */
type PageSource = {
  query: GroupSpansQuery;
  keys: GroupKeys;
  from: { page: string; percentiles: string; params: StatementParams };
  figures: { page: string[]; percentiles: string[] };
};

async function readPage(
  database: SpanDatabase,
  source: PageSource,
  signal?: AbortSignal,
): Promise<{ count: number; rows: SpanGroup[] }> {
  const { query, keys, from, figures } = source;
  // There are few models: finding the page first would read nearly all spans twice.
  const isTogether = isBySumKeys(query.groupBy);
  const selected = [...figures.page, ...(isTogether ? figures.percentiles : [])];
  const direction = query.sort.descending ? "DESC" : "ASC";
  const offset = (query.page - 1) * query.pageSize;
  const page = await database.query(
    {
      name: "group",
      sql: `SELECT ${[...keys.select, `${keys.textOfNames} AS group_text`, ...selected].join(", ")} FROM ${from.page} WHERE ${keys.where}
        GROUP BY ${keys.names.join(", ")} ORDER BY ${[`${figureAlias(query.sort.field)} ${direction}`, ...keys.names].join(", ")}
        LIMIT ${Math.min(query.pageSize, storageLimits.groupRowsMax)} OFFSET ${offset}`,
      params: from.params,
      settings: { exact_rows_before_limit: 1 },
    },
    signal,
  );
  const percentiles = isTogether
    ? new Map(page.rows.map((row) => [textOf(row), row]))
    : await readPercentiles(database, source, page.rows.map(textOf), signal);
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

/** The percentiles of the groups of one page. For all groups, every value of every group would be in memory. */
async function readPercentiles(
  database: SpanDatabase,
  { keys, from, figures }: PageSource,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, ResultRow>> {
  if (texts.length === 0) return new Map();
  const { rows } = await database.query(
    {
      name: "group_percentiles",
      sql: `SELECT ${keys.text} AS group_text, ${figures.percentiles.join(", ")} FROM ${from.percentiles}
        WHERE ${keys.where} AND group_text IN {group_texts:Array(String)} GROUP BY group_text`,
      params: { ...from.params, group_texts: texts },
    },
    signal,
  );
  return new Map(rows.map((row) => [textOf(row), row]));
}

type CountedField = Exclude<SpanGroupSortField, "first_timestamp" | "last_timestamp">;
const countedFields = spanGroupSortFields.filter((field): field is CountedField => !field.endsWith("_timestamp"));

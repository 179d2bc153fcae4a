import type { SpanColumn } from "../../../domain/span.ts";
import { limits } from "../../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { GroupSpansQuery, SpanGroup, SpanGrouping, SpanGroupSortField } from "../span-store.ts";
import { spanGroupSortFields } from "../span-store.ts";
import { figureAlias, figuresOf, selectFigures } from "./figures.ts";
import { countedSpans, paramsOfParts, readsIdentity, type Counts } from "./counted-spans.ts";
import { readOnce, type Once } from "./once.ts";
import { partOf } from "./selection.ts";
import { averageCost, averageOf, isError, isUnpriced, rowUsage, sumOf, sumOfCost } from "./usage.ts";

/** The columns that make a group. Traces and threads are told apart by environment too; spans outside of any do not count. */
function keyColumns(groupBy: SpanGrouping): { columns: readonly SpanColumn[]; where: string } {
  if (groupBy === "trace") return { columns: ["trace_unique_id", "environment"], where: "trace_unique_id != ''" };
  if (groupBy === "thread") return { columns: ["thread_identifier", "environment"], where: "thread_identifier != ''" };
  return { columns: [groupBy], where: "1" };
}

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
  const { columns, where: present } = keyColumns(query.groupBy);
  const parts = [partOf(query)];
  const direction = query.sort.descending ? "DESC" : "ASC";
  const offset = (query.page - 1) * query.pageSize;
  const read = async (once: Once, counts: Counts) =>
    await database.query(
      {
        name: "group",
        sql: `SELECT ${[...columns, ...select].join(", ")} FROM ${countedSpans(parts, once, counts)} WHERE ${present}
        GROUP BY ${columns.join(", ")} ORDER BY ${[`${figureAlias(query.sort.field)} ${direction}`, ...columns].join(", ")}
        LIMIT ${Math.min(query.pageSize, limits.groupRowsMax)} OFFSET ${offset}`,
        params: paramsOfParts(parts),
        settings: { exact_rows_before_limit: 1 },
      },
      signal,
    );
  const isByIdentity = query.groupBy === "customer_identifier" || query.groupBy === "thread";
  const counts = isByIdentity || readsIdentity(query.filter) ? "all" : "usage";
  const { rows, rowsBeforeLimit } = await readOnce(database, { parts, counts }, read, signal);
  return {
    count: rowsBeforeLimit ?? rows.length,
    rows: rows.map((row) => ({
      key: Object.fromEntries(columns.map((column) => [column, keyValue(row[column], column)])),
      ...figuresOf(row, countedFields),
      first_timestamp: String(row[figureAlias("first_timestamp")]),
      last_timestamp: String(row[figureAlias("last_timestamp")]),
    })),
  };
}

type CountedField = Exclude<SpanGroupSortField, "first_timestamp" | "last_timestamp">;
const countedFields = spanGroupSortFields.filter((field): field is CountedField => !field.endsWith("_timestamp"));

function keyValue(value: unknown, column: SpanColumn): string | number | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  return column === "status_code" ? Number(value) : value;
}

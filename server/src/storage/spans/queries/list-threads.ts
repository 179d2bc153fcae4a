import { threadNumbers, threadTimes, type ThreadSortField } from "../../../domain/thread.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { ListThreadsQuery, StoredThread } from "../thread-queries.ts";
import { countedSpans, paramsOfParts, type Counts } from "./counted-spans.ts";
import { figureAlias, figuresOf, selectFigures } from "./figures.ts";
import { conditionParams, groupMatches } from "./group-condition.ts";
import { readOnce, type Once } from "./once.ts";
import { partOf } from "./selection.ts";
import { isUnpriced, rowUsage, sumOf, sumOfCost } from "./usage.ts";

const figures: Record<ThreadSortField, string> = {
  first_timestamp: "min(timestamp)",
  last_timestamp: "max(timestamp)",
  log_count: "count()",
  trace_count: "uniqExactIf(trace_unique_id, trace_unique_id != '')",
  total_cost: sumOfCost,
  total_tokens: sumOf(rowUsage.totalTokens),
  unpriced_count: `countIf(${isUnpriced})`,
};
const customer = "argMinIf(customer_identifier, (timestamp, toString(unique_id)), customer_identifier != '')";

/** The threads of the window, from their spans that ended in it. */
export async function listThreads(
  database: SpanDatabase,
  query: ListThreadsQuery,
  signal?: AbortSignal,
): Promise<{ count: number; rows: StoredThread[] }> {
  const { condition, sort, page, pageSize } = query;
  const parts = [partOf({ ...query, filter: condition?.where })];
  const select = [...selectFigures(figures), `${customer} AS customer`, ...groupMatches(condition)];
  const direction = sort.descending ? "DESC" : "ASC";
  const read = async (once: Once, counts: Counts) =>
    await database.query(
      {
        name: "list_threads",
        sql: `SELECT thread_identifier, environment, ${select.join(", ")} FROM ${countedSpans(parts, once, counts)}
        WHERE thread_identifier != '' GROUP BY thread_identifier, environment HAVING ${condition?.having.sql ?? "1"}
        ORDER BY ${figureAlias(sort.field)} ${direction}, thread_identifier ${direction}, environment
        LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}`,
        params: { ...conditionParams(condition), ...paramsOfParts(parts) },
        settings: { exact_rows_before_limit: 1 },
      },
      signal,
    );
  const { rows, rowsBeforeLimit } = await readOnce(database, { parts, counts: "all" }, read, signal);
  return { count: rowsBeforeLimit ?? rows.length, rows: rows.map(storedThread) };
}

function storedThread(row: ResultRow): StoredThread {
  const [first_timestamp, last_timestamp] = threadTimes.map((name) => String(row[figureAlias(name)]));
  return {
    thread_identifier: String(row["thread_identifier"]),
    environment: String(row["environment"]),
    customer_identifier: String(row["customer"]),
    first_timestamp: first_timestamp ?? "",
    last_timestamp: last_timestamp ?? "",
    ...figuresOf(row, threadNumbers),
  };
}

import { threadNumbers, threadTimes, type ThreadSortField } from "../../../domain/thread.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { ListThreadsQuery, StoredThread } from "../thread-queries.ts";
import { figureAlias, figuresOf, selectFigures } from "./figures.ts";
import { conditionParams, groupMatches } from "./group-condition.ts";
import { readOnce, type Once } from "./once.ts";
import type { RollUp } from "./roll-up.ts";
import { allOf, spansOf, withoutFilter } from "./selection.ts";
import { rowUsage, sumOf, sumOfCost } from "./usage.ts";

const figures: Record<ThreadSortField, string> = {
  first_timestamp: "min(timestamp)",
  last_timestamp: "max(timestamp)",
  log_count: "count()",
  trace_count: "uniqExactIf(trace_unique_id, trace_unique_id != '')",
  total_cost: sumOfCost,
  total_tokens: sumOf(rowUsage.totalTokens),
};
const customer = "argMinIf(customer_identifier, (timestamp, toString(unique_id)), customer_identifier != '')";

/** The threads of the window, from the spans of theirs that ended within it. */
export async function listThreads(
  database: SpanDatabase,
  query: ListThreadsQuery,
  signal?: AbortSignal,
): Promise<{ count: number; rows: StoredThread[] }> {
  const { condition, sort, page, pageSize } = query;
  const all = withoutFilter(query);
  // A wrapper whose children do not name the thread speaks for them: only spans of threads restate each other here.
  const inThreads = allOf(all, { sql: "thread_identifier != ''", params: {} });
  const where = allOf(inThreads, condition?.where);
  const select = [...selectFigures(figures), `${customer} AS customer`, ...groupMatches(condition)];
  const direction = sort.descending ? "DESC" : "ASC";
  const read = async (once: Once, usage: RollUp) =>
    await database.query(
      {
        name: "list_threads",
        sql: `${usage.with} SELECT thread_identifier, environment, ${select.join(", ")} FROM ${usage.of(spansOf([where], once))}
        GROUP BY thread_identifier, environment HAVING ${condition?.having.sql ?? "1"}
        ORDER BY ${figureAlias(sort.field)} ${direction}, thread_identifier ${direction}, environment
        LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}`,
        params: { ...conditionParams(condition), ...where.params },
        settings: { exact_rows_before_limit: 1 },
      },
      signal,
    );
  const { rows, rowsBeforeLimit } = await readOnce(database, { all: [all], summed: [inThreads] }, read, signal);
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

import type { ResultRow, SpanDatabase, Statement } from "../drivers/span-database.ts";
import type { ReceivedCounts, ReceivedPlace, ReceivedSpans, ReceivedSpansQuery } from "../received-spans.ts";
import type { SpanCondition } from "../span-store.ts";
import { countedSpans, readsIdentity } from "./counted-spans.ts";
import { asReceivedKey } from "./result-values.ts";
import { readOnce } from "./once.ts";
import { partOf } from "./selection.ts";

export async function listReceived(
  database: SpanDatabase,
  query: ReceivedSpansQuery & { limit: number },
  signal?: AbortSignal,
): Promise<ReceivedSpans> {
  const { rows, rowsBeforeLimit } = await readReceived(
    database,
    query,
    {
      name: "list_received",
      select: "SELECT timestamp, unique_id, environment, version, received_at",
      rest: `ORDER BY received_at DESC, toString(unique_id) DESC LIMIT ${query.limit}`,
      settings: { exact_rows_before_limit: 1, optimize_read_in_order: 0 },
    },
    signal,
  );
  const keys = rows.map(asReceivedKey).reverse();
  return { keys, count: Math.max(keys.length, rowsBeforeLimit ?? 0) };
}

export async function countReceived(
  database: SpanDatabase,
  query: ReceivedSpansQuery & { until: ReceivedPlace },
  signal?: AbortSignal,
): Promise<ReceivedCounts> {
  const select = "SELECT toUnixTimestamp(received_at) AS second, count() AS spans";
  const { rows } = await readReceived(
    database,
    query,
    { name: "count_received", select, rest: "GROUP BY second" },
    signal,
  );
  return new Map(rows.map((row: ResultRow) => [Number(row["second"]), Number(row["spans"])]));
}

/** The primary key finds the window of end times; within it, all times of receipt are scanned. */
async function readReceived(
  database: SpanDatabase,
  query: ReceivedSpansQuery & { until?: ReceivedPlace },
  { name, select, rest, settings }: Omit<Statement, "sql"> & { select: string; rest: string },
  signal?: AbortSignal,
) {
  const { scope, window, edits } = query;
  const part = partOf({ scope, window, filter: receivedWithin(query), edits });
  return await readOnce(
    database,
    { parts: [part], counts: readsIdentity(query.filter) ? "all" : "none" },
    (once, counts) =>
      database.query(
        {
          name,
          sql: `${select} FROM ${countedSpans([part], once, counts)} AS spans ${rest}`,
          params: { ...part.where.params, ...part.filter?.params },
          ...(settings && { settings }),
        },
        signal,
      ),
    signal,
  );
}

function receivedWithin({ after, until, filter }: ReceivedSpansQuery & { until?: ReceivedPlace }): SpanCondition {
  const bounds = [isBehind("after"), ...(until === undefined ? [] : [`NOT (${isBehind("until")})`])];
  return {
    sql: [...bounds, ...(filter === undefined ? [] : [`(${filter.sql})`])].join(" AND "),
    params: {
      ...filter?.params,
      after_time: after.received_at,
      after_id: after.unique_id,
      ...(until !== undefined && { until_time: until.received_at, until_id: until.unique_id }),
    },
    ...(filter === undefined ? { columns: new Set<string>() } : filter.columns && { columns: filter.columns }),
  };
}

/** Compares ids as text, because the engine orders ids in its own way. */
function isBehind(name: "after" | "until"): string {
  const time = `{${name}_time:DateTime64(9, 'UTC')}`;
  return `received_at >= ${time} AND (received_at > ${time} OR toString(unique_id) > {${name}_id:String})`;
}

import type { SpanDatabase } from "../drivers/span-database.ts";
import type { ReceivedSpans, ReceivedSpansQuery } from "../received-spans.ts";
import type { SpanCondition } from "../span-store.ts";
import { countedSpans, readsIdentity } from "./counted-spans.ts";
import { asReceivedKey } from "./result-values.ts";
import { readOnce } from "./once.ts";
import { partOf } from "./selection.ts";

/** The window of ends is what the primary key finds; within it, the times of receipt are read one by one. */
export async function listReceived(
  database: SpanDatabase,
  query: ReceivedSpansQuery,
  signal?: AbortSignal,
): Promise<ReceivedSpans> {
  const { scope, window, edits } = query;
  const part = partOf({ scope, window, filter: receivedAfter(query), edits });
  const { rows, rowsBeforeLimit } = await readOnce(
    database,
    { parts: [part], counts: readsIdentity(query.filter) ? "all" : "none" },
    (once, counts) =>
      database.query(
        {
          name: "list_received",
          sql: `SELECT timestamp, unique_id, environment, version, received_at
            FROM ${countedSpans([part], once, counts)} AS spans
            ORDER BY received_at DESC, toString(unique_id) DESC LIMIT ${query.limit}`,
          params: { ...part.where.params, ...part.filter?.params },
          settings: { exact_rows_before_limit: 1, optimize_read_in_order: 0 },
        },
        signal,
      ),
    signal,
  );
  const keys = rows.map(asReceivedKey).reverse();
  return { keys, count: Math.max(keys.length, rowsBeforeLimit ?? 0) };
}

/** Texts of ids are compared, as ids have an order of the engine's own. */
function receivedAfter({ after, filter }: ReceivedSpansQuery): SpanCondition {
  const time = "{received_after:DateTime64(9, 'UTC')}";
  const received = `received_at >= ${time} AND (received_at > ${time} OR toString(unique_id) > {received_id:String})`;
  return {
    sql: filter === undefined ? received : `${received} AND (${filter.sql})`,
    params: { ...filter?.params, received_after: after.received_at, received_id: after.unique_id },
    ...(filter === undefined ? { columns: new Set<string>() } : filter.columns && { columns: filter.columns }),
  };
}

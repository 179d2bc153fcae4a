import type { SpanColumn, SpanScope } from "../../../domain/span.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { ListTraceSpansQuery, StoredSpan, StoredTrace, TimeWindow } from "../span-store.ts";
import { describeTraces } from "./describe-traces.ts";
import { storedSpan } from "./result-values.ts";
import { allOf, scopeWhere, spansOf, stretchWhere, windowWhere, type Where } from "./selection.ts";

/** A trace of each environment that has one: an id alone tells neither day nor time, so an index finds these first. */
export async function retrieveTraces(
  database: SpanDatabase,
  scope: SpanScope,
  traceId: string,
  signal?: AbortSignal,
): Promise<StoredTrace[]> {
  const place = await placeOf(database, scope, traceId, signal);
  if (place === undefined) return [];
  const traces = await describeTraces(database, [place.where], signal);
  return [...traces.values()].map((trace) => ({ ...trace, payload_bytes: place.payloadBytes }));
}

/** The spans of one trace, earliest first. */
export async function listTraceSpans(
  database: SpanDatabase,
  query: ListTraceSpansQuery,
  signal?: AbortSignal,
): Promise<StoredSpan[]> {
  const place = await placeOf(database, query.scope, query.traceId, signal);
  if (place === undefined) return [];
  const { where } = place;
  const { rows } = await database.query(
    {
      name: "trace_spans",
      sql: `SELECT ${[...new Set(query.fields)].join(", ")} FROM ${spansOf([where])}
        ORDER BY start_time, timestamp, toString(unique_id) LIMIT ${query.limit} OFFSET ${query.offset ?? 0}`,
      params: where.params,
    },
    signal,
  );
  return rows.map(storedSpan);
}

/** How many spans a trace has in each environment, and how many of them ended in the window. */
export async function countTraceSpans(
  database: SpanDatabase,
  { scope, traceId, window }: { scope: SpanScope; traceId: string; window: TimeWindow },
  signal?: AbortSignal,
): Promise<Array<{ environment: string; inWindow: number; total: number }>> {
  const place = await placeOf(database, scope, traceId, signal);
  if (place === undefined) return [];
  const within = windowWhere(window);
  const { rows } = await database.query(
    {
      name: "count_trace_spans",
      sql: `SELECT environment, countIf(${within.sql}) AS in_window, count() AS total FROM ${spansOf([place.where])} GROUP BY environment`,
      params: { ...place.where.params, ...within.params },
    },
    signal,
  );
  return rows.map((row) => ({
    environment: String(row["environment"]),
    inWindow: Number(row["in_window"]),
    total: Number(row["total"]),
  }));
}

const payloadColumns = [
  "input",
  "output",
  "prompt_messages",
  "completion_message",
  "completion_messages",
  "metadata",
] as const satisfies readonly SpanColumn[];

/**
 * The primary key's stretch that holds the trace, and how much payload it has; undefined when there is no such trace.
 * Without FINAL: both only have to be large enough.
 */
async function placeOf(
  database: SpanDatabase,
  scope: SpanScope,
  traceId: string,
  signal?: AbortSignal,
): Promise<{ where: Where; payloadBytes: number } | undefined> {
  if (traceId === "") return undefined;
  const ofTrace = allOf(scopeWhere(scope), { sql: "trace_unique_id = {trace:String}", params: { trace: traceId } });
  const { rows } = await database.query(
    {
      name: "place_trace",
      sql: `SELECT min(timestamp) AS first, max(timestamp) AS last,
        sum(${payloadColumns.map((column) => `${column}.size`).join(" + ")}) AS bytes
        FROM spans WHERE ${ofTrace.sql} HAVING count() > 0`,
      params: ofTrace.params,
    },
    signal,
  );
  const [place] = rows;
  if (place === undefined) return undefined;
  const stretch = stretchWhere(String(place["first"]), String(place["last"]));
  return { where: allOf(ofTrace, stretch), payloadBytes: Number(place["bytes"]) };
}

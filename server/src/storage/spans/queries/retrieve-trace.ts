import type { SpanColumn, SpanScope } from "../../../domain/span.ts";
import { limits } from "../../../limits.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type {
  ListTraceSpansQuery,
  StoredSpan,
  StoredTrace,
  TimeWindow,
  TracePlace,
  TraceStretch,
} from "../span-store.ts";
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
  for (let attempt = 1; ; attempt += 1) {
    const place = await placeOf(database, scope, traceId, signal);
    if (place === undefined) return [];
    const traces = await describeTraces(database, [place.where], signal);
    if (attempt < limits.movedReadAttempts && (await hasMoved(database, { scope, traceId, place }, signal))) continue;
    return [...traces.values()].map((trace) => ({
      ...trace,
      payload_bytes: place.payloadBytes,
      stretch: place.stretch,
    }));
  }
}

/**
 * Whether spans were sent again with other times since the trace was placed, and so are not where it was looked for.
 * Asked only of traces that something came in for just now: a trace that is over keeps its place.
 */
async function hasMoved(
  database: SpanDatabase,
  { scope, traceId, place }: { scope: SpanScope; traceId: string; place: Place },
  signal?: AbortSignal,
): Promise<boolean> {
  if (!place.isRecent) return false;
  const now = await placeOf(database, scope, traceId, signal);
  return now !== undefined && (now.stretch.first < place.stretch.first || now.stretch.last > place.stretch.last);
}

/** One page of the spans of a trace, earliest start first. */
export async function listTraceSpans(
  database: SpanDatabase,
  query: ListTraceSpansQuery,
  signal?: AbortSignal,
): Promise<StoredSpan[]> {
  const where = allOf(ofTrace(query.scope, query.traceId), stretchWhere(query.stretch.first, query.stretch.last));
  const order = `ORDER BY start_time, timestamp, toString(unique_id) LIMIT ${query.limit} OFFSET ${query.offset ?? 0}`;
  return await readSpans(database, { where, order, fields: query.fields }, signal);
}

/** All of them, in chunks by primary key. */
export async function* readTraceSpans(
  database: SpanDatabase,
  query: Omit<ListTraceSpansQuery, "offset">,
  signal?: AbortSignal,
): AsyncGenerator<StoredSpan[], void> {
  let last: StoredSpan | undefined;
  for (let left = query.limit; left > 0; left -= limits.traceSpansChunk) {
    const rest = last && {
      sql: "(timestamp, unique_id) > ({last_time:DateTime64(9, 'UTC')}, {last_id:UUID})",
      params: { last_time: last.timestamp, last_id: last.unique_id },
    };
    const stretch = stretchWhere(last?.timestamp ?? query.stretch.first, query.stretch.last);
    const where = allOf(ofTrace(query.scope, query.traceId), stretch, rest);
    const size = Math.min(left, limits.traceSpansChunk);
    const order = `ORDER BY timestamp, unique_id LIMIT ${size}`;
    const rows = await readSpans(database, { where, order, fields: query.fields }, signal);
    if (rows.length > 0) yield rows;
    last = rows.at(-1);
    if (rows.length < size) return;
  }
}

/** A row is a list of values: of many rows, the names of their columns would be most of the answer. */
async function readSpans(
  database: SpanDatabase,
  { where, order, fields }: { where: Where; order: string; fields: readonly SpanColumn[] },
  signal?: AbortSignal,
): Promise<StoredSpan[]> {
  const columns = [...new Set<SpanColumn>(["timestamp", "unique_id", ...fields])];
  const { rows } = await database.query(
    {
      name: "trace_spans",
      sql: `SELECT tuple(${columns.join(", ")}) AS span FROM ${spansOf([where])} ${order}`,
      params: where.params,
      settings: { output_format_json_named_tuples_as_objects: 0 },
    },
    signal,
  );
  // Copies of one object share its shape; members that are added one by one make a hash table of each row.
  const shape = JSON.parse(JSON.stringify(Object.fromEntries(columns.map((column) => [column, null])))) as ResultRow;
  return rows.map(({ span }) => {
    const row = { ...shape };
    const values = span as unknown[];
    for (let index = 0; index < columns.length; index += 1) row[columns[index] as SpanColumn] = values[index];
    return storedSpan(row);
  });
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

/** Stretches of the primary key that hold a trace. Without FINAL: they only have to be large enough. */
export async function placeTraces(
  database: SpanDatabase,
  scope: SpanScope,
  traceId: string,
  signal?: AbortSignal,
): Promise<TracePlace[]> {
  if (traceId === "") return [];
  const spans = ofTrace(scope, traceId);
  const { rows } = await database.query(
    {
      name: "place_trace",
      sql: `SELECT environment, min(timestamp) AS first, max(timestamp) AS last, count() AS spans,
        max(received_at) > now64(9) - INTERVAL ${limits.movingTraceS} SECOND AS is_recent,
        sum(${payloadColumns.map((column) => `${column}.size`).join(" + ")}) AS bytes
        FROM spans WHERE ${spans.sql} GROUP BY environment`,
      params: spans.params,
    },
    signal,
  );
  return rows.map((row) => ({
    environment: String(row["environment"]),
    stretch: { first: String(row["first"]), last: String(row["last"]) },
    span_count: Number(row["spans"]),
    payload_bytes: Number(row["bytes"]),
    is_recent: Number(row["is_recent"]) === 1,
  }));
}

type Place = { where: Where; stretch: TraceStretch; payloadBytes: number; isRecent: boolean };

/** All environments of the scope together; undefined when there is no such trace. */
async function placeOf(
  database: SpanDatabase,
  scope: SpanScope,
  traceId: string,
  signal?: AbortSignal,
): Promise<Place | undefined> {
  const places = await placeTraces(database, scope, traceId, signal);
  if (places.length === 0) return undefined;
  const [first = ""] = places.map(({ stretch }) => stretch.first).sort();
  const last =
    places
      .map(({ stretch }) => stretch.last)
      .sort()
      .at(-1) ?? "";
  return {
    where: allOf(ofTrace(scope, traceId), stretchWhere(first, last)),
    stretch: { first, last },
    payloadBytes: places.reduce((sum, place) => sum + place.payload_bytes, 0),
    isRecent: places.some((place) => place.is_recent),
  };
}

function ofTrace(scope: SpanScope, traceId: string): Where {
  return allOf(scopeWhere(scope), { sql: "trace_unique_id = {trace:String}", params: { trace: traceId } });
}

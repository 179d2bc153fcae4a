import { isCountedColumn, type ReadColumn, type SpanScope } from "../../../domain/span.ts";
import { ServiceError } from "../../../domain/errors.ts";
import { storageLimits } from "../../limits.ts";
import type { RawRows, SpanDatabase } from "../drivers/span-database.ts";
import { rawPlace, rawReader, type RawSpan } from "../raw-span.ts";
import type { StatementParams, TimeWindow } from "../span-store.ts";
import type {
  ListTraceSpansQuery,
  SmallTraceQuery,
  StoredTrace,
  TracePlace,
  TraceRange,
  TraceWeight,
} from "../trace-queries.ts";
import { describeTraces } from "./describe-traces.ts";
import { keyColumns, newestBy } from "./hydrate-spans.ts";
import { packingOf } from "./packed-columns.ts";
import { mayHaveRows } from "./has-rows.ts";
import { rawCounter, readCounts, readFewCounts, selectCounted, storedColumns } from "./span-counts.ts";
import { rawEditor, readEdits, type EditsById } from "./span-edits.ts";
import { allOf, inWindow, scopeWhere, spansOf, timeRangeWhere, type Where } from "./selection.ts";

/**
 * Returns the trace of each environment that has one. An id contains neither day nor time, so an index finds these first.
 */
export async function retrieveTraces(
  database: SpanDatabase,
  scope: SpanScope,
  traceId: string,
  signal?: AbortSignal,
): Promise<StoredTrace[]> {
  for (let attempt = 1; ; attempt += 1) {
    const place = await placeOf(database, scope, traceId, signal);
    if (place === undefined) return [];
    const traces = await describeTraces(database, [{ where: place.where }], signal);
    if (attempt < storageLimits.movedReadAttempts && (await hasMoved(database, { scope, traceId, place }, signal)))
      continue;
    return [...traces.values()];
  }
}

/**
 * Whether spans were resent with other times since the trace was located, and so are outside of the range. Only
 * checked for traces that received spans just now: a finished trace does not move.
 */
async function hasMoved(
  database: SpanDatabase,
  { scope, traceId, place }: { scope: SpanScope; traceId: string; place: Place },
  signal?: AbortSignal,
): Promise<boolean> {
  if (!place.isRecent) return false;
  const now = await placeOf(database, scope, traceId, signal);
  return now !== undefined && (now.range.first < place.range.first || now.range.last > place.range.last);
}

/** One page of the spans of a trace, earliest start first. */
export async function listTraceSpans(
  database: SpanDatabase,
  query: ListTraceSpansQuery,
  signal?: AbortSignal,
): Promise<RawSpan[]> {
  const where = allOf(ofTrace(query.scope, query.traceId), timeRangeWhere(query.range.first, query.range.last));
  const page = `ORDER BY start_time, timestamp, toString(unique_id) LIMIT ${query.limit} OFFSET ${query.offset ?? 0}`;
  const counting = readCounts(database, where, query.columns, signal);
  const editing = editsOf(database, { ...query, where }, signal);
  const reading = readSpans(database, { ...query, from: `${spansOf([where])} ${page}`, params: where.params }, signal);
  const [counts, edits, spans] = await Promise.all([counting, editing, reading]);
  return [...spans].map(rawCounter(query.columns, counts)).map(rawEditor(query.columns, edits));
}

/** Reads all spans, in chunks by primary key. */
export async function readTraceSpans(
  database: SpanDatabase,
  query: Omit<ListTraceSpansQuery, "offset">,
  take: (span: RawSpan) => void,
  signal?: AbortSignal,
): Promise<void> {
  const columns = withColumns(query.columns, ["timestamp", "unique_id"]);
  const whole = allOf(ofTrace(query.scope, query.traceId), timeRangeWhere(query.range.first, query.range.last));
  const isCounted =
    columns.some(isCountedColumn) && (await mayHaveRows(database, "counts", query.scope.organization_id, signal));
  const keyOf = rawReader(columns, ["timestamp", "unique_id"]);
  const readChunk = (size: number, last?: RawSpan) => {
    const after = last && keyOf(last);
    const rest = after && {
      sql: "(timestamp, unique_id) > ({last_time:DateTime64(9, 'UTC')}, {last_id:UUID})",
      params: { last_time: after.timestamp, last_id: after.unique_id },
    };
    const range = timeRangeWhere(after?.timestamp ?? query.range.first, query.range.last);
    const where = allOf(ofTrace(query.scope, query.traceId), range, rest);
    const inOrder = "ORDER BY timestamp, unique_id";
    const spans = `(SELECT ${storedColumns(columns).join(", ")} FROM spans FINAL WHERE ${where.sql} ${inOrder} LIMIT ${size})`;
    const sql = `${selectCounted(columns, spans, isCounted ? where : undefined)} ${inOrder}`;
    // The engine's default starts threads for joins of many rows.
    const settings = { join_algorithm: "hash" };
    return database.queryRaw({ name: "trace_spans", sql, params: where.params, settings }, signal);
  };
  const chunk = columns.some((column) => payload.has(column))
    ? storageLimits.traceSpansChunk
    : storageLimits.slimTraceSpansChunk;
  let left = query.limit;
  let size = Math.min(left, chunk);
  let reading: Promise<RawRows> | undefined = readChunk(size);
  reading.catch(() => undefined);
  const edits = await editsOf(database, { scope: query.scope, where: whole, columns }, signal);
  const edited = rawEditor(columns, edits);
  while (reading !== undefined) {
    const rows: RawRows = await reading;
    left -= size;
    // The engine reads the next chunk while this one is processed.
    const isMore = rows.size === size && left > 0;
    size = Math.min(left, chunk);
    reading = isMore ? readChunk(size, rows.last) : undefined;
    reading?.catch(() => undefined);
    for (const stored of rows) take(edited(stored));
  }
}

/**
 * All spans of a small trace, in every environment of the scope, from one statement and so as of one moment; undefined
 * for a larger trace. Without FINAL, which needs the time range of the trace: takes the newest row of each key.
 */
export async function readSmallTrace(
  database: SpanDatabase,
  { scope, traceId, columns }: SmallTraceQuery,
  signal?: AbortSignal,
): Promise<RawSpan[] | undefined> {
  if (traceId === "") return [];
  const where = ofTrace(scope, traceId);
  const read = withColumns(columns, [...keyColumns, "is_deleted"]);
  const packing = packingOf(storedColumns(read));
  const statement = {
    name: "trace_spans",
    sql: `SELECT ${packing.select.join(", ")} FROM spans PREWHERE ${where.sql} LIMIT ${storageLimits.smallTraceRows + 1}`,
    params: where.params,
    settings: { max_result_bytes: storageLimits.smallTraceBytes, result_overflow_mode: "throw" },
  };
  try {
    // A span may have several rows of counts; more than that many belong to a larger trace.
    const counting = readFewCounts(database, where, { columns, most: 2 * storageLimits.smallTraceRows }, signal);
    const editing = editsOf(database, { scope, where, columns }, signal);
    const [counts, edits, spans] = await Promise.all([counting, editing, database.queryRaw(statement, signal)]);
    const rows = [...spans];
    if (counts === undefined || rows.length > storageLimits.smallTraceRows) return undefined;
    const counted = rows.map(packing.unpackRaw).map(rawCounter(read, counts));
    return newestSpans(counted, read).map(rawEditor(read, edits));
  } catch (error) {
    if (error instanceof ServiceError && error.code === "query_too_large") return undefined;
    throw error;
  }
}

/** The edits of the spans of `where`. */
async function editsOf(
  database: SpanDatabase,
  { scope, where, columns }: { scope: SpanScope; where: Where; columns: readonly ReadColumn[] },
  signal?: AbortSignal,
): Promise<EditsById> {
  const sql = `unique_id GLOBAL IN (SELECT unique_id FROM spans WHERE ${where.sql})`;
  return await readEdits(database, scope, { ids: { sql, params: where.params }, columns }, signal);
}

/** The newest row of each span, without deleted spans. */
function newestSpans(rows: readonly RawSpan[], columns: readonly ReadColumn[]): RawSpan[] {
  const [time = 0, id = 0, environment = 0, version = 0] = keyColumns.map((column) => rawPlace(columns, column));
  const isDeleted = rawPlace(columns, "is_deleted");
  const keyOf = (row: RawSpan) => `${row[time]} ${row[id]} ${row[environment]}`;
  // 64-bit integers have quotes around them.
  const newest = newestBy(rows, keyOf, (row) => row[version]?.slice(1, -1) ?? "");
  return [...newest.values()].filter((row) => row[isDeleted] !== "1");
}

/** The requested columns come first, where the caller expects them. */
function withColumns(requested: readonly ReadColumn[], needed: readonly ReadColumn[]): ReadColumn[] {
  return [...new Set([...requested, ...needed])];
}

/** Reads stored columns only, without counted ones. */
async function readSpans(
  database: SpanDatabase,
  { from, params, columns }: { from: string; params: StatementParams; columns: readonly ReadColumn[] },
  signal?: AbortSignal,
): Promise<RawRows> {
  const sql = `SELECT ${storedColumns(columns).join(", ")} FROM ${from}`;
  return await database.queryRaw({ name: "trace_spans", sql, params }, signal);
}

/** How many spans a trace has in each environment, and how many of them ended in the window. */
export async function countTraceSpans(
  database: SpanDatabase,
  { scope, traceId, window }: { scope: SpanScope; traceId: string; window: TimeWindow },
  signal?: AbortSignal,
): Promise<Array<{ environment: string; inWindow: number; total: number }>> {
  const place = await placeOf(database, scope, traceId, signal);
  if (place === undefined) return [];
  const within = inWindow(window);
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

/** The exact size of a trace: without rows of older versions, which `placeTraces` counts. */
export async function weighTrace(
  database: SpanDatabase,
  { scope, traceId, range }: Pick<ListTraceSpansQuery, "scope" | "traceId" | "range">,
  signal?: AbortSignal,
): Promise<TraceWeight> {
  const where = allOf(ofTrace(scope, traceId), timeRangeWhere(range.first, range.last));
  const sql = `SELECT count() AS spans, ${payloadBytes} AS bytes FROM ${spansOf([where])}`;
  const { rows } = await database.query({ name: "weigh_trace", sql, params: where.params }, signal);
  return { span_count: Number(rows[0]?.["spans"]), payload_bytes: Number(rows[0]?.["bytes"]) };
}

const payloadColumns = [
  "input",
  "output",
  "prompt_messages",
  "completion_message",
  "completion_messages",
  "metadata",
] as const satisfies readonly ReadColumn[];
const payload: ReadonlySet<ReadColumn> = new Set(payloadColumns);
const payloadBytes = `sum(${payloadColumns.map((column) => `${column}.size`).join(" + ")})`;

/** The ranges of the primary key that contain a trace. Without FINAL: they only have to be large enough. */
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
        max(received_at) > now64(9) - INTERVAL ${storageLimits.movingTraceS} SECOND AS is_recent,
        ${payloadBytes} AS bytes
        FROM spans WHERE ${spans.sql} GROUP BY environment`,
      params: spans.params,
    },
    signal,
  );
  return rows.map((row) => ({
    environment: String(row["environment"]),
    range: { first: String(row["first"]), last: String(row["last"]) },
    span_count: Number(row["spans"]),
    payload_bytes: Number(row["bytes"]),
    is_recent: Number(row["is_recent"]) === 1,
  }));
}

type Place = { where: Where; range: TraceRange; isRecent: boolean };

/** The place in all environments of the scope together; undefined if there is no such trace. */
async function placeOf(
  database: SpanDatabase,
  scope: SpanScope,
  traceId: string,
  signal?: AbortSignal,
): Promise<Place | undefined> {
  const places = await placeTraces(database, scope, traceId, signal);
  if (places.length === 0) return undefined;
  const [first = ""] = places.map(({ range }) => range.first).sort();
  const last =
    places
      .map(({ range }) => range.last)
      .sort()
      .at(-1) ?? "";
  return {
    where: allOf(ofTrace(scope, traceId), timeRangeWhere(first, last)),
    range: { first, last },
    isRecent: places.some((place) => place.is_recent),
  };
}

function ofTrace(scope: SpanScope, traceId: string): Where {
  return allOf(scopeWhere(scope), { sql: "trace_unique_id = {trace:String}", params: { trace: traceId } });
}

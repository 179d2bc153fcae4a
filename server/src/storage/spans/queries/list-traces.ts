import { usageFigures } from "../../../domain/trace.ts";
import { storageLimits } from "../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { ListTracesQuery, StoredTrace } from "../trace-queries.ts";
import type { TimeWindow } from "../span-store.ts";
import {
  describeTraces,
  sumTraces,
  traceKeyText,
  type PageKey,
  type TraceKey,
  type TracePage,
} from "./describe-traces.ts";
import { figureAlias } from "./figures.ts";
import { countedSpans, paramsOfParts, type CountedPart, type Counts } from "./counted-spans.ts";
import { conditionParams, groupMatches } from "./group-condition.ts";
import { mayHaveRows } from "./has-rows.ts";
import { planNewest, type NewestTraces } from "./newest-traces.ts";
import { readOnce, type Once } from "./once.ts";
import {
  allOf,
  inWindow,
  ofTraces,
  scopeWhere,
  storedWindow,
  timeRangeWhere,
  windowWhere,
  type Where,
} from "./selection.ts";
import { traceFigures } from "./trace-figures.ts";

/**
 * A trace is listed if one of its spans ended within the window, and then as a whole, see `traceSpans`.
 *
 * Reads the keys of one page first, with only the figures that sorting and filtering need, then describes these traces.
 */
export async function listTraces(
  database: SpanDatabase,
  query: ListTracesQuery,
  signal?: AbortSignal,
): Promise<{ count: number; rows: StoredTrace[] }> {
  const { near, before, after } = await partsOf(database, query, signal);
  const parts = [...near, ...before, ...after];
  const newest = after.length === 0 ? await planNewest(database, query, near[0]?.where, signal) : undefined;
  const page = await tracePage(database, query, { parts, newest }, signal);
  if (page.keys.length === 0) return { count: page.count, rows: [] };
  const inScope = allOf(scopeWhere(query.scope), ofTraces(page.keys));
  const where = allOf(inScope, rangeOf(page.keys));
  const spans = page.keys.reduce((sum, key) => sum + Number(key.spans), 0);
  const isFew = spans <= storageLimits.summedListSpans;
  const summed = isFew ? await sumTraces(database, where, signal) : undefined;
  let found = summed ?? (await describeTraces(database, [{ where }], signal));
  const isWhole = page.keys.every((key) => (found.get(traceKeyText(key))?.span_count ?? 0) >= Number(key.spans));
  // Spans that were resent with other times in between have left the range: read the whole window then.
  if (!isWhole) {
    const all = parts.map(({ where }) => ({ where: allOf(where, ofTraces(page.keys)) }));
    found = await describeTraces(database, all, signal);
  }
  return { count: page.count, rows: page.keys.flatMap((key) => found.get(traceKeyText(key)) ?? []) };
}

/** The keys of the traces that a list would have, at most `limit`. */
export async function matchTraces(
  database: SpanDatabase,
  query: Omit<ListTracesQuery, "sort" | "page" | "pageSize"> & { limit: number },
  signal?: AbortSignal,
): Promise<{ count: number; keys: TraceKey[] }> {
  const parts = await traceSpans(database, query, signal);
  const order = { sort: { field: "timestamp", descending: true }, page: 1, pageSize: query.limit } as const;
  return await tracePage(database, { ...query, ...order }, { parts }, signal);
}

/**
 * Selects all spans of the traces of the window, in disjoint selections that also have spans of other traces. Traces
 * that cross an edge of the window have spans outside: near the edge if they are narrow, else within their recorded
 * extent.
 */
export async function traceSpans(
  database: SpanDatabase,
  query: SpansQuery,
  signal?: AbortSignal,
): Promise<CountedPart[]> {
  const { near, before, after } = await partsOf(database, query, signal);
  return [...near, ...before, ...after];
}

type SpansQuery = Pick<ListTracesQuery, "scope" | "window" | "condition" | "edits">;

/** `near`: the window and a little around it. The others have the spans of wide traces before and after that. */
async function partsOf(
  database: SpanDatabase,
  { scope, window, condition, edits }: SpansQuery,
  signal?: AbortSignal,
): Promise<Record<"near" | "before" | "after", CountedPart[]>> {
  const inScope = allOf(scopeWhere(scope), { sql: "trace_unique_id != ''", params: {} }, condition?.where);
  const wide = await wideTraces(database, { scope, window }, signal);
  const part = (range: TimeWindow, name: string, traces?: Where): CountedPart[] =>
    range.fromNs > range.toNs ? [] : [{ where: allOf(inScope, windowWhere(range, name), traces), edits }];
  const { fromNs, toNs } = storedWindow({ fromNs: window.fromNs - narrowNs, toNs: window.toNs + narrowNs });
  const near = part({ fromNs, toNs }, "near");
  if (wide === undefined) return { near, before: [], after: [] };
  return {
    near,
    before: part({ fromNs: wide.fromNs, toNs: fromNs - 1n }, "wide_before", wide.isWide),
    after: part({ fromNs: toNs + 1n, toNs: wide.toNs }, "wide_after", wide.isWide),
  };
}

const narrowNs = BigInt(storageLimits.narrowTraceS) * 1_000_000_000n;

/** The recorded traces that cross an edge of the window, and their time range; undefined if there are none. */
async function wideTraces(
  database: SpanDatabase,
  { scope, window }: Pick<ListTracesQuery, "scope" | "window">,
  signal?: AbortSignal,
): Promise<{ isWide: Where; fromNs: bigint; toNs: bigint } | undefined> {
  if (!(await mayHaveRows(database, "extents", scope.organization_id, signal))) return undefined;
  const within = windowWhere(window);
  const where = allOf(scopeWhere(scope), { sql: crossing, params: within.params });
  const found = `SELECT environment, trace_unique_id, min(first) AS begun, max(last) AS ended FROM trace_extents
    WHERE ${where.sql} GROUP BY environment, trace_unique_id`;
  const { rows } = await database.query(
    {
      name: "wide_traces",
      sql: `SELECT toString(toUnixTimestamp64Nano(min(begun))) AS from_ns, toString(toUnixTimestamp64Nano(max(ended))) AS to_ns, count() AS traces FROM (${found})`,
      params: where.params,
    },
    signal,
  );
  if (Number(rows[0]?.["traces"] ?? 0) === 0) return undefined;
  const isWide = {
    sql: `(environment, trace_unique_id) GLOBAL IN (SELECT environment, trace_unique_id FROM (${found}))`,
    params: where.params,
  };
  return { isWide, fromNs: BigInt(String(rows[0]?.["from_ns"])), toNs: BigInt(String(rows[0]?.["to_ns"])) };
}

const at = (name: string) => `fromUnixTimestamp64Nano({${name}:Int64}, 'UTC')`;
const crossing = `first <= ${at("to_ns")} AND last >= ${at("from_ns")} AND (first < ${at("from_ns")} OR last > ${at("to_ns")})`;

async function tracePage(
  database: SpanDatabase,
  query: ListTracesQuery,
  { parts, newest }: { parts: readonly CountedPart[]; newest?: NewestTraces | undefined },
  signal?: AbortSignal,
): Promise<TracePage> {
  const { condition, sort, page, pageSize } = query;
  const figures = [...new Set([sort.field, ...(condition?.figures ?? [])])];
  const counts = figures.some((name) => usageFigures.has(name)) ? "usage" : "none";
  const select = [
    "trace_unique_id",
    "environment",
    "min(timestamp) AS first",
    "max(timestamp) AS last",
    "count() AS spans",
    ...figures.map((name) => `${traceFigures[name]} AS ${figureAlias(name)}`),
    ...groupMatches(condition),
  ];
  const direction = sort.descending ? "DESC" : "ASC";
  // The time range is wider than the window, so a trace may have no span in the window.
  const within = inWindow(query.window);
  const read = async (once: Once, known: Counts): Promise<TracePage> => {
    const found = once === "" ? await newest?.read() : undefined;
    if (found !== undefined) return found;
    const { rows, rowsBeforeLimit } = await database.query(
      {
        name: "list_traces",
        sql: `SELECT ${select.join(", ")} FROM ${countedSpans(parts, once, known)} GROUP BY trace_unique_id, environment
        HAVING countIf(${within.sql}) > 0 AND (${condition?.having.sql ?? "1"})
        ORDER BY ${figureAlias(sort.field)} ${direction}, trace_unique_id ${direction}, environment
        LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}`,
        params: { ...conditionParams(condition), ...paramsOfParts(parts), ...within.params },
        settings: { exact_rows_before_limit: 1 },
      },
      signal,
    );
    return { count: rowsBeforeLimit ?? rows.length, keys: rows as PageKey[] };
  };
  return await readOnce(database, { parts, counts }, read, signal);
}

/** The time range of the traces of a page, which is short in a list by time. */
function rangeOf(keys: readonly PageKey[]): Where {
  const first = keys.map((key) => key.first).sort()[0] ?? "";
  const last =
    keys
      .map((key) => key.last)
      .sort()
      .at(-1) ?? "";
  return timeRangeWhere(first, last);
}

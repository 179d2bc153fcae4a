import { usageFigures } from "../../../domain/trace.ts";
import { limits } from "../../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { ListTracesQuery, StoredTrace } from "../trace-queries.ts";
import { describeTraces, traceKeyText, type TraceKey } from "./describe-traces.ts";
import { figureAlias } from "./figures.ts";
import { conditionParams, groupMatches } from "./group-condition.ts";
import { readOnce, type Once } from "./once.ts";
import type { RollUp } from "./roll-up.ts";
import { allOf, beyondWindow, scopeWhere, spansOf, stretchWhere, windowWhere, type Where } from "./selection.ts";
import { traceFigures } from "./trace-figures.ts";

/**
 * A trace is listed when a span of it ended within the window, and then as a whole. Its other spans are looked up where
 * something says that there are any, see `straddlers`.
 *
 * First the keys of one page, from as few figures as sorting and filtering need; then all there is to say of those.
 */
export async function listTraces(
  database: SpanDatabase,
  query: ListTracesQuery,
  signal?: AbortSignal,
): Promise<{ count: number; rows: StoredTrace[] }> {
  const parts = await traceSpans(database, query, signal);
  const page = await tracePage(database, query, parts, signal);
  if (page.keys.length === 0) return { count: page.count, rows: [] };
  const describe = async (where: Where) =>
    await describeTraces(
      database,
      parts.map((part) => allOf(part, where)),
      signal,
    );
  let found = await describe(allOf(ofTraces(page.keys), stretchOf(page.keys)));
  const isWhole = page.keys.every((key) => (found.get(traceKeyText(key))?.span_count ?? 0) >= Number(key.spans));
  // Spans that were sent again in between, with other times, left the stretch: then all of the window is looked at.
  if (!isWhole) found = await describe(ofTraces(page.keys));
  return { count: page.count, rows: page.keys.flatMap((key) => found.get(traceKeyText(key)) ?? []) };
}

/** The keys of the traces that a list would have, at most `limit` of them. */
export async function matchTraces(
  database: SpanDatabase,
  query: Omit<ListTracesQuery, "sort" | "page" | "pageSize"> & { limit: number },
  signal?: AbortSignal,
): Promise<{ count: number; keys: TraceKey[] }> {
  const parts = await traceSpans(database, query, signal);
  const order = { sort: { field: "timestamp", descending: true }, page: 1, pageSize: query.limit } as const;
  return await tracePage(database, { ...query, ...order }, parts, signal);
}

/** All spans of the traces of the window, as selections that have none in common. */
async function traceSpans(
  database: SpanDatabase,
  { scope, window, condition }: Pick<ListTracesQuery, "scope" | "window" | "condition">,
  signal?: AbortSignal,
): Promise<Where[]> {
  const inScope = allOf(scopeWhere(scope), { sql: "trace_unique_id != ''", params: {} }, condition?.where);
  const within = allOf(inScope, windowWhere(window));
  const ids = await straddlers(database, { inScope, within, window }, signal);
  if (ids.length === 0) return [within];
  const beyond = { sql: "trace_unique_id IN {straddlers:Array(String)}", params: { straddlers: ids } };
  return [within, allOf(inScope, beyondWindow(window), beyond)];
}

const hourNs = 3_600_000_000_000n;

/**
 * Traces with spans on both sides of an edge of the window: those of which a span in it began before it, and those that
 * went on within the hour after it. Their other spans are found by the index on trace ids, which serves a few of them.
 */
async function straddlers(
  database: SpanDatabase,
  { inScope, within, window }: { inScope: Where; within: Where; window: ListTracesQuery["window"] },
  signal?: AbortSignal,
): Promise<string[]> {
  const after = windowWhere({ fromNs: window.toNs + 1n, toNs: window.toNs + hourNs }, "after");
  const { rows } = await database.query(
    {
      name: "trace_straddlers",
      sql: `SELECT DISTINCT trace_unique_id FROM spans WHERE ${within.sql} AND start_time < fromUnixTimestamp64Nano({from_ns:Int64}, 'UTC') LIMIT ${limits.traceStraddlers}
        UNION ALL
        SELECT DISTINCT trace_unique_id FROM spans WHERE ${inScope.sql} AND ${after.sql}
        AND cityHash64(trace_unique_id) IN (SELECT cityHash64(trace_unique_id) FROM spans WHERE ${within.sql}) LIMIT ${limits.traceStraddlers}`,
      params: { ...within.params, ...after.params },
    },
    signal,
  );
  return [...new Set(rows.map((row) => String(row["trace_unique_id"])))];
}

type PageKey = TraceKey & { first: string; last: string; spans: string };

async function tracePage(
  database: SpanDatabase,
  query: ListTracesQuery,
  parts: readonly Where[],
  signal?: AbortSignal,
): Promise<{ count: number; keys: PageKey[] }> {
  const { condition, sort, page, pageSize } = query;
  const figures = [...new Set([sort.field, ...(condition?.figures ?? [])])];
  const summed = figures.some((name) => usageFigures.has(name)) ? parts : undefined;
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
  const read = async (once: Once, usage: RollUp) =>
    await database.query(
      {
        name: "list_traces",
        sql: `${usage.with} SELECT ${select.join(", ")} FROM ${usage.of(spansOf(parts, once))} GROUP BY trace_unique_id, environment
        HAVING ${condition?.having.sql ?? "1"}
        ORDER BY ${figureAlias(sort.field)} ${direction}, trace_unique_id ${direction}, environment
        LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}`,
        params: Object.assign(conditionParams(condition), ...parts.map(({ params }) => params)),
        settings: { exact_rows_before_limit: 1 },
      },
      signal,
    );
  const { rows, rowsBeforeLimit } = await readOnce(database, { all: parts, summed }, read, signal);
  return { count: rowsBeforeLimit ?? rows.length, keys: rows as PageKey[] };
}

function ofTraces(keys: readonly PageKey[]): Where {
  const ids = [...new Set(keys.map((key) => key.trace_unique_id))];
  return { sql: "trace_unique_id IN {page:Array(String)}", params: { page: ids } };
}

/** The stretch of time that the traces of a page lie in: in a list by time that is short. */
function stretchOf(keys: readonly PageKey[]): Where {
  const first = keys.map((key) => key.first).sort()[0] ?? "";
  const last =
    keys
      .map((key) => key.last)
      .sort()
      .at(-1) ?? "";
  return stretchWhere(first, last);
}

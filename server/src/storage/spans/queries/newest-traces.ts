import { storageLimits } from "../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { StatementParams } from "../span-store.ts";
import type { ListTracesQuery } from "../trace-queries.ts";
import type { PageKey, TracePage } from "./describe-traces.ts";
import { mayHaveRows } from "./has-rows.ts";
import { allOf, inWindow, ofTraces, scopeWhere, type Where } from "./selection.ts";
import { findSums } from "./stored-sums.ts";

export type NewestTraces = {
  /**
   * Reads spans from the newest on until the page is full, if no two rows of them share a key. Undefined if there are
   * spans behind the window: their traces may come first in the list, or not be in it.
   */
  read(): Promise<TracePage | undefined>;
};

/**
 * How to read a list by time of very many spans without reading all of them: stored sums know the count. Undefined if
 * all spans are to be read.
 *
 * @param spans all spans of the window and of a little around it
 */
export async function planNewest(
  database: SpanDatabase,
  query: ListTracesQuery,
  spans: Where | undefined,
  signal?: AbortSignal,
): Promise<NewestTraces | undefined> {
  const { scope, window, condition, sort, page, pageSize } = query;
  const isNewestFirst = condition === undefined && sort.field === "timestamp" && sort.descending;
  if (spans === undefined || !isNewestFirst || page * pageSize > storageLimits.newestTraces) return undefined;
  const sums = await findSums(database, { scope, window, cost: sumsCost }, signal);
  // How wide a trace is may not be recorded before a pass.
  if (sums?.isSettled !== true) return undefined;
  const counting = (rows: string, params: StatementParams) =>
    database.query(
      { name: "count_traces", sql: `SELECT uniqExactArray(traces) AS traces FROM ${rows}`, params },
      signal,
    );
  return {
    async read() {
      const [counted, found] = await Promise.all([
        sums.read(counting, signal),
        readNewest(database, query, spans, signal),
      ]);
      if (found[0]?.isBehind === true) return undefined;
      const keys = found.slice((page - 1) * pageSize).map(({ key }) => key);
      const first = await earliestOf(database, query, keys, signal);
      // Spans may come in between the two reads.
      const count = Math.max(Number(counted.rows[0]?.["traces"] ?? 0), found.length);
      return { count, keys: keys.map((key) => ({ ...key, first: first ?? key.first })) };
    },
  };
}

/** Sums and the newest spans take two statements, instead of one that reads all spans. */
const sumsCost = 3;

async function readNewest(
  database: SpanDatabase,
  { window, page, pageSize }: ListTracesQuery,
  spans: Where,
  signal?: AbortSignal,
): Promise<Array<{ key: PageKey; isBehind: boolean }>> {
  const within = inWindow(window);
  const from = "fromUnixTimestamp64Nano({from_ns:Int64}, 'UTC')";
  const { rows } = await database.query(
    {
      name: "newest_traces",
      sql: `SELECT trace_unique_id, environment, timestamp AS last, 1 AS spans,
        timestamp - INTERVAL ${storageLimits.narrowTraceS} SECOND AS first, NOT (${within.sql}) AS is_behind
        FROM spans WHERE ${spans.sql} AND timestamp >= ${from}
        ORDER BY toDate32(timestamp) DESC, timestamp DESC, trace_unique_id DESC, environment
        LIMIT 1 BY trace_unique_id, environment LIMIT ${page * pageSize}`,
      params: { ...spans.params, ...within.params },
      // With buffers, the engine reads far more blocks than the page needs.
      settings: { read_in_order_use_buffering: 0 },
    },
    signal,
  );
  return rows.map(({ is_behind: isBehind, ...key }) => ({ key: key as PageKey, isBehind: Number(isBehind) === 1 }));
}

/** When the first span of those traces ended that are not narrow; undefined if all are narrow. */
async function earliestOf(
  database: SpanDatabase,
  { scope }: ListTracesQuery,
  keys: readonly PageKey[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (keys.length === 0 || !(await mayHaveRows(database, "extents", scope.organization_id, signal))) return undefined;
  const where = allOf(scopeWhere(scope), ofTraces(keys));
  const sql = `SELECT min(first) AS earliest FROM trace_extents WHERE ${where.sql} HAVING count() > 0`;
  const { rows } = await database.query({ name: "wide_traces", sql, params: where.params }, signal);
  const earliest = rows[0]?.["earliest"];
  return typeof earliest === "string" ? [earliest, ...keys.map(({ first }) => first)].toSorted()[0] : undefined;
}

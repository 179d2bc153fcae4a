import type { SpanScope } from "../../../domain/span.ts";
import { storedTime } from "../../../lib/time.ts";
import type { Once } from "./once.ts";
import type { CountedPart } from "./counted-spans.ts";
import type { SpanSelection, StatementParams, TimeWindow } from "../span-store.ts";

/** The condition of a WHERE clause and its parameters. */
export type Where = { sql: string; params: StatementParams };

/** The rows of a scope: every query names its organization. */
export function scopeWhere(scope: SpanScope): Where {
  const organization = "organization_id = {organization_id:String}";
  return scope.environment === undefined
    ? { sql: organization, params: { organization_id: scope.organization_id } }
    : {
        sql: `${organization} AND environment = {environment:String}`,
        params: { organization_id: scope.organization_id, environment: scope.environment },
      };
}

/**
 * Names the day besides the time because the primary key starts with it, and only as a hint for the index: the time
 * decides. Both bounds are our own expressions. `isOneDay`: both are on the same day; then the engine searches the index
 * by bisection.
 */
export function endedWithin(from: string, to: string, isOneDay = false): string {
  const day = "toDate32(timestamp)";
  const days = isOneDay ? `${day} = toDate32(${from})` : `${day} >= toDate32(${from}) AND ${day} <= toDate32(${to})`;
  return `indexHint(${days}) AND ${isBetween(from, to)}`;
}

const isBetween = (from: string, to: string): string => `timestamp >= ${from} AND timestamp <= ${to}`;

/** `name` distinguishes several windows of a statement. */
export function windowWhere(window: TimeWindow, name = ""): Where {
  const { from, to, params } = boundsOf(window, name);
  const { fromNs, toNs } = storedWindow(window);
  return { sql: endedWithin(from, to, dayOf(fromNs) === dayOf(toNs)), params };
}

/** The same for rows that are read anyway: without a hint for the index. */
export function inWindow(window: TimeWindow): Where {
  const { from, to, params } = boundsOf(window, "");
  return { sql: isBetween(from, to), params };
}

const dayOf = (ns: bigint): string => storedTime(ns).slice(0, dayChars);

const dayChars = "2026-05-05".length;

function boundsOf({ fromNs, toNs }: TimeWindow, name: string) {
  const [fromName, toName] = [`${name}from_ns`, `${name}to_ns`];
  const time = (bound: string) => `fromUnixTimestamp64Nano({${bound}:Int64}, 'UTC')`;
  return { from: time(fromName), to: time(toName), params: { [fromName]: int64(fromNs), [toName]: int64(toNs) } };
}

/** A range between two stored times, both inclusive. */
export function timeRangeWhere(first: string, last: string): Where {
  const [from, to] = ["{first:DateTime64(9, 'UTC')}", "{last:DateTime64(9, 'UTC')}"];
  return {
    sql: endedWithin(from, to, first.slice(0, dayChars) === last.slice(0, dayChars)),
    params: { first, last },
  };
}

export function ofTraces(keys: readonly { trace_unique_id: string }[]): Where {
  const ids = [...new Set(keys.map((key) => key.trace_unique_id))];
  return { sql: "trace_unique_id IN {page:Array(String)}", params: { page: ids } };
}

/** The spans of a selection. */
export function partOf({ scope, window, filter, edits }: SpanSelection): CountedPart {
  return { where: allOf(scopeWhere(scope), windowWhere(window)), filter, edits };
}

export function allOf(...parts: ReadonlyArray<Where | undefined>): Where {
  const given = parts.filter((part) => part !== undefined);
  return {
    sql: given.map((part) => part.sql).join(" AND "),
    params: Object.assign({}, ...given.map((part) => part.params)) as StatementParams,
  };
}

/**
 * The spans of several disjoint selections, as a source for FROM. Usually there is one; several keep the primary key
 * usable, which OR does not.
 */
export function spansOf(parts: readonly Where[], once: Once = "FINAL"): string {
  const selects = parts.map(({ sql }) => `SELECT * FROM spans ${once} WHERE ${sql}`);
  return `(${selects.join(" UNION ALL ")})`;
}

// 1900-01-01, the first day of ClickHouse's DateTime64; its last instant is the largest Int64.
const firstNs = -2_208_988_800_000_000_000n;
const lastNs = 2n ** 63n - 1n;

function int64(ns: bigint): string {
  return storable(ns).toString();
}

const storable = (ns: bigint): bigint => (ns < firstNs ? firstNs : ns > lastNs ? lastNs : ns);

/** The part of a window in which a stored time can be. */
export function storedWindow({ fromNs, toNs }: TimeWindow): TimeWindow {
  return { fromNs: storable(fromNs), toNs: storable(toNs) };
}

import type { SpanScope } from "../../../domain/span.ts";
import { storageLimits } from "../../limits.ts";
import type { LastPass } from "../drivers/pass-memory.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanSelection, StatementParams, TimeWindow } from "../span-store.ts";
import { countedSpans, paramsOfParts, type CountedPart } from "./counted-spans.ts";
import { readOnce } from "./once.ts";
import { readLastPass, timeOf } from "./plan-sums.ts";
import { allOf, scopeWhere, windowWhere, type Where } from "./selection.ts";
import { hourSeconds, slotIn, slotOf, slotSeconds, sumColumnNames, sumRows } from "./sum-columns.ts";

/** Rows of sums for a window: stored ones, and sums of the spans of all slots whose stored sums may be out of date. */
export type SumsOfWindow = {
  /**
   * Calls `statement` with a source for FROM: `timestamp` (the start of the slot), `environment`, `model` and the
   * columns of sums. Calls it again if rows came in that it has to see.
   */
  read<T>(statement: (rows: string, params: StatementParams) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Whether no span of the window after its first slot has come in since the last pass. */
  isSettled: boolean;
};

/** `cost`: how many times as many spans as for other reads there must be for sums to be faster. */
type SumsQuery = SpanSelection & { groupBy?: readonly string[]; starts?: readonly number[]; cost?: number };

/** The keys of sums. */
const sumKeys: ReadonlySet<string> = new Set(["model", "environment"]);
export const isBySumKeys = (groupBy: readonly string[]): boolean => groupBy.every((key) => sumKeys.has(key));

/** Undefined if spans must be read: if sums cannot serve the query, or cover too little of the window. */
export async function findSums(
  database: SpanDatabase,
  query: SumsQuery,
  signal?: AbortSignal,
): Promise<SumsOfWindow | undefined> {
  const { scope, window, filter, groupBy = [], starts = [], cost = 1 } = query;
  if (filter !== undefined || !isBySumKeys(groupBy)) return undefined;
  // Slots cannot have times beyond these.
  if (window.fromNs < 0n || window.toNs > latestNs) return undefined;
  // The first bucket may begin anywhere before the window.
  if (starts.some((start, index) => index > 0 && start % slotSeconds !== 0)) return undefined;
  const pass = await readLastPass(database, signal);
  const whole = wholeSlots(window, pass);
  if (pass.isAhead || whole.until - whole.from < minSlots * slotSeconds) return undefined;
  if (!(await hasManySpans(database, pass, { scope, window, cost }, signal))) return undefined;
  const changed = await changedSince(database, pass, { scope, slots: whole, window }, signal);
  const plan = changed && planSlots(whole, changed.slots);
  if (changed === undefined || plan === undefined) return undefined;
  const scoped = scopeWhere(scope);
  // The offsets of some time zones are not whole hours.
  const isByHours = pass.hasHours && starts.every((start, index) => index === 0 || start % hourSeconds === 0);
  const hours = isByHours ? planHours(plan, changed.hours) : undefined;
  const isEmptyBehind = plan.until === whole.until && changed.isEmptyBehind;
  const beside = spansBeside(plan, isEmptyBehind ? { ...window, toNs: ns(plan.until) - 1n } : window);
  const parts = beside.map((each): CountedPart => ({ where: allOf(scoped, each) }));
  const columns = ["environment", "model", ...sumColumnNames].join(", ");
  const time = "toDateTime64(slot, 9, 'UTC') AS timestamp";
  const sums = storedSums(plan, hours)
    .map(
      ({ table, slots }) =>
        `SELECT ${time}, ${columns} FROM ${table} FINAL WHERE epoch = ${pass.epoch} AND ${scoped.sql} AND ${slots}`,
    )
    .join(" UNION ALL ");
  const isSettled = changed.slots.length === 0 && (changed.isEmptyBehind || window.toNs < ns(whole.until));
  return {
    isSettled,
    async read(statement, readSignal) {
      if (parts.length === 0) return await statement(`(${sums})`, scoped.params);
      const params = { ...paramsOfParts(parts), ...scoped.params };
      return await readOnce(
        database,
        { parts, counts: "all" },
        (once, counts) => {
          const spans = `SELECT ${time}, ${columns} FROM (${sumRows(countedSpans(parts, once, counts))})`;
          return statement(`(${sums} UNION ALL ${spans})`, params);
        },
        readSignal,
      );
    },
  };
}

/** Whether the window may have so many spans that reading fewer is worth more planning. */
export async function isLargeWindow(
  database: SpanDatabase,
  { scope, window }: Pick<SpanSelection, "scope" | "window">,
  signal?: AbortSignal,
): Promise<boolean> {
  return await hasManySpans(database, await readLastPass(database, signal), { scope, window }, signal);
}

/** Whether the window may have so many spans that sums are faster, judged by the busiest slot of the organization. */
async function hasManySpans(
  database: SpanDatabase,
  { epoch }: LastPass,
  { scope: { organization_id }, window: { fromNs, toNs }, cost }: Pick<SumsQuery, "scope" | "window" | "cost">,
  signal?: AbortSignal,
): Promise<boolean> {
  const sumsFromSpans = database.passes.sumsFromSpans * (cost ?? 1);
  if (sumsFromSpans === 0) return true;
  const busiest = await database.passes.busiestSlot(organization_id, async () => {
    const slots = `SELECT sum(sum_requests) AS spans FROM span_sums FINAL
      WHERE epoch = ${epoch} AND organization_id = {organization_id:String} GROUP BY slot`;
    const sql = `SELECT max(spans) AS spans FROM (${slots})`;
    const { rows } = await database.query({ name: "busiest_slot", sql, params: { organization_id } }, signal);
    return Number(rows[0]?.["spans"] ?? 0);
  });
  return (Number(toNs - fromNs) / (slotSeconds * 1e9)) * busiest >= sumsFromSpans;
}

const latestNs = (2n ** 32n - 1n) * 1_000_000_000n;

/** With fewer slots, finding the sums takes as long as reading the spans. */
const minSlots = 3;

/** In seconds; `until` is exclusive. */
type Slots = { from: number; until: number };

/**
 * Windows often end with the last millisecond or second of an hour or day: the rest of the last slot usually has no
 * spans.
 */
const edgeNs = 1_000_000_000n;

/** The slots that a window covers, and that were closed when the last pass ran. The window may end up to `edgeNs` before its last slot ends. */
function wholeSlots({ fromNs, toNs }: TimeWindow, { closedMs }: LastPass): Slots {
  const slotNs = ns(slotSeconds);
  return {
    from: Number((fromNs + slotNs - 1n) / slotNs) * slotSeconds,
    until: Math.min(Number((toNs + edgeNs) / slotNs) * slotSeconds, closedMs / 1_000),
  };
}

const ns = (seconds: number): bigint => BigInt(seconds) * 1_000_000_000n;

/**
 * The time between the end of a window and the end of its slots, which often has no spans: the rest of the last slot,
 * or the part of the window after it, such as the minutes since the last pass.
 */
function edgeOf({ toNs }: TimeWindow, { until }: Slots): TimeWindow | undefined {
  if (toNs >= ns(until)) return { fromNs: ns(until), toNs };
  return toNs + 1n < ns(until) ? { fromNs: toNs + 1n, toNs: ns(until) - 1n } : undefined;
}

/** Read `slots` from spans and `hours` from slots: their sums are old. `isEmptyBehind`: the window has no span after its last slot. */
type Changed = { slots: number[]; hours: number[]; isEmptyBehind: boolean };

/**
 * Slots with rows that came in after the last pass, and the last slot if it has spans after the window; undefined if
 * there are very many.
 */
async function changedSince(
  database: SpanDatabase,
  { watermarkMs }: LastPass,
  { scope, slots, window }: { scope: SpanScope; slots: Slots; window: TimeWindow },
  signal?: AbortSignal,
): Promise<Changed | undefined> {
  const scoped = scopeWhere(scope);
  const edge = edgeOf(window, slots);
  const behind = edge && allOf(scoped, windowWhere(edge, "edge_"));
  const since = `stored_at > ${timeOf(watermarkMs)}`;
  const whole = windowWhere({ fromNs: ns(slots.from), toNs: ns(slots.until) - 1n });
  const where = allOf(scoped, whole, { sql: since, params: {} });
  const selects = [
    ...["spans", "span_counts"].map((table) => `SELECT DISTINCT ${slotOf} AS changed FROM ${table} WHERE ${where.sql}`),
    `SELECT toUInt32(slot) AS changed FROM span_sum_marks WHERE organization_id = {organization_id:String} AND ${since}
      AND slot >= toDateTime(${slots.from}, 'UTC') AND slot < toDateTime(${slots.until}, 'UTC')`,
    ...(behind === undefined ? [] : [`SELECT ${slotOf} AS changed FROM spans WHERE ${behind.sql} LIMIT 1`]),
  ];
  const statement = {
    name: "changed_slots",
    sql: `SELECT DISTINCT changed FROM (${selects.map((select) => `(${select})`).join(" UNION ALL ")}) LIMIT ${storageLimits.changedSlots + 2}`,
    params: { ...behind?.params, ...where.params },
  };
  const probe = async (): Promise<number[]> => {
    const { rows } = await database.query(statement, signal);
    return rows.map((row) => Number(row["changed"])).toSorted((a, b) => a - b);
  };
  const key = JSON.stringify([statement.sql, statement.params]);
  const found = (await database.probes?.read(key, probe)) ?? (await probe());
  const isBehind = (found.at(-1) ?? 0) >= slots.until;
  const changed = isBehind ? found.slice(0, -1) : found;
  if (changed.length > storageLimits.changedSlots) return undefined;
  const hours = [...new Set(changed.map(hourOf))];
  return {
    slots: changed.filter((at) => at % slotSeconds === 0),
    hours,
    isEmptyBehind: window.toNs >= ns(slots.until) && !isBehind,
  };
}

/** The slots to read from sums: all except changed ones. Undefined if most have changed. */
function planSlots(slots: Slots, all: readonly number[]): (Slots & { changed: number[] }) | undefined {
  const [within, changed] = [{ ...slots }, [...all]];
  // Changed slots at the ends are read together with the spans beyond them.
  while (changed.at(-1) === within.until - slotSeconds) {
    changed.pop();
    within.until -= slotSeconds;
  }
  while (changed[0] === within.from) {
    changed.shift();
    within.from += slotSeconds;
  }
  const count = (within.until - within.from) / slotSeconds;
  return count - changed.length * 2 >= minSlots ? { ...within, changed } : undefined;
}

/** With fewer hours, reading the slots is as fast. */
const minHours = 6;
/** With more, planning the statement takes longer than hours save. */
const maxChangedHours = 48;

type Hours = Slots & { changed: number[] };

/** The hours to read as a whole, within the slots that are read: all except those with a changed slot. */
function planHours({ from, until }: Slots, all: readonly number[]): Hours | undefined {
  const within = { from: hourOf(from + hourSeconds - 1), until: hourOf(until) };
  const changed = all.filter((hour) => hour >= within.from && hour < within.until);
  const count = (within.until - within.from) / hourSeconds - changed.length;
  return count >= minHours && changed.length <= maxChangedHours ? { ...within, changed } : undefined;
}

const hourOf = (seconds: number) => Math.floor(seconds / hourSeconds) * hourSeconds;

/** The tables of the stored sums: hours, and slots beside them. */
function storedSums(
  slots: Slots & { changed: number[] },
  hours: Hours | undefined,
): Array<{ table: string; slots: string }> {
  const but = (starts: readonly number[]) =>
    starts.length === 0 ? "" : ` AND NOT ${slotIn(starts, "toUInt32(slot)")}`;
  const within = ({ from, until }: Slots) =>
    `slot >= toDateTime(${from}, 'UTC') AND slot < toDateTime(${until}, 'UTC')`;
  if (hours === undefined) return [{ table: "span_sums", slots: within(slots) + but(slots.changed) }];
  const beside = [
    { from: slots.from, until: hours.from },
    ...hours.changed.map((from) => ({ from, until: from + hourSeconds })),
    { from: hours.until, until: slots.until },
  ].filter(({ from, until }) => from < until);
  const byHours = { table: "span_hour_sums", slots: within(hours) + but(hours.changed) };
  if (beside.length === 0) return [byHours];
  return [
    byHours,
    { table: "span_sums", slots: `(${beside.map((each) => `(${within(each)})`).join(" OR ")})${but(slots.changed)}` },
  ];
}

/** The spans to read directly: before and after the slots, and those of changed slots. */
function spansBeside({ from, until, changed }: Slots & { changed: number[] }, { fromNs, toNs }: TimeWindow): Where[] {
  const between: Where[] = [];
  if (fromNs < ns(from)) between.push(windowWhere({ fromNs, toNs: ns(from) - 1n }, "before_"));
  const [first, last] = [changed[0], changed.at(-1)];
  if (first !== undefined && last !== undefined) {
    const window = windowWhere({ fromNs: ns(first), toNs: ns(last + slotSeconds) - 1n }, "changed_");
    between.push(allOf(window, { sql: slotIn(changed), params: {} }));
  }
  if (toNs >= ns(until)) between.push(windowWhere({ fromNs: ns(until), toNs }, "behind_"));
  return between;
}

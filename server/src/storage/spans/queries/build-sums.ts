import type { SpanDatabase } from "../drivers/span-database.ts";
import type { DueSums, SumsDay, SumsPass, SumsPortion } from "../span-sums.ts";
import { countedSpans, paramsOfParts } from "./counted-spans.ts";
import { hourMark, markSlots } from "./mark-slots.ts";
import { changedIn, timeOf } from "./plan-sums.ts";
import { allOf, scopeWhere, windowWhere } from "./selection.ts";
import { hourSeconds, slotIn, slotSeconds, startOf, sumColumnNames, sumRows } from "./sum-columns.ts";

/**
 * @returns the slots to build, and then the hours, in portions. Slots with too many rows get a permanent mark, so reads use their spans; hours
 * with too many get one, so reads use their slots.
 */
export async function listDueSums(
  database: SpanDatabase,
  pass: SumsPass,
  { organization_id, day }: SumsDay,
  portion: SumsPortion,
  signal?: AbortSignal,
): Promise<DueSums[]> {
  const parts = changedIn.map(
    (each, index) => `SELECT ${each.slot} AS at, ${index === 0 ? "count()" : "0"} AS rows,
        countIf(stored_at > ${timeOf(pass.afterMs)} AND stored_at <= ${timeOf(pass.untilMs)}) AS added
      FROM ${each.table} WHERE organization_id = {organization_id:String} AND toDate32(${each.time}) = {day:Date32} GROUP BY at`,
  );
  const { rows } = await database.query(
    {
      name: "list_due_sums",
      sql: `SELECT at, sum(rows) AS rows, sum(added) > 0 AS is_added FROM (${parts.join(" UNION ALL ")})
        WHERE at < ${pass.closedUntilMs / 1_000} GROUP BY at ORDER BY at`,
      params: { organization_id, day },
    },
    signal,
  );
  const found = rows.map((row) => ({
    slot: Number(row["at"]),
    rows: Number(row["rows"]),
    isAdded: Number(row["is_added"]) === 1,
  }));
  const due = [slotSeconds, hourSeconds].flatMap((seconds) => portionsOf(found, { pass, seconds, portion }));
  for (const { slots, seconds } of due.filter(({ isLarge }) => isLarge))
    await markSlots(database, organization_id, seconds === hourSeconds ? slots.map(hourMark) : slots, "always");
  return due.filter(({ isLarge }) => !isLarge).map(({ seconds, slots }) => ({ seconds, slots }));
}

type Found = { slot: number; rows: number; isAdded: boolean };

/** Returns the slots or hours that are closed by now and that got rows, or were still open in the last pass. */
function portionsOf(
  found: readonly Found[],
  { pass, seconds, portion }: { pass: SumsPass; seconds: number; portion: SumsPortion },
): Array<DueSums & { isLarge: boolean }> {
  const bySlot = Map.groupBy(found, ({ slot }) => Math.floor(slot / seconds) * seconds);
  const portions: Array<DueSums & { isLarge: boolean }> = [];
  let room = 0;
  for (const [slot, within] of bySlot) {
    const endMs = (slot + seconds) * 1_000;
    const isDue = endMs > pass.closedAfterMs || within.some(({ isAdded }) => isAdded);
    if (!isDue || endMs > pass.closedUntilMs) continue;
    const rows = within.reduce((sum, each) => sum + each.rows, 0);
    const isLarge = rows > portion.slotRows;
    const last = portions.at(-1);
    if (last === undefined || last.isLarge !== isLarge || (!isLarge && room < rows)) {
      portions.push({ seconds, slots: [slot], isLarge });
      room = portion.rows - rows;
      continue;
    }
    last.slots.push(slot);
    room -= rows;
  }
  return portions;
}

/** One insert replaces the old sums by the new ones. No read relies on these slots until the pass is finished. */
export async function buildSums(
  database: SpanDatabase,
  { epoch }: SumsPass,
  organization_id: string,
  { seconds, slots }: DueSums,
  signal?: AbortSignal,
): Promise<void> {
  const [first, last] = [slots[0] ?? 0, slots.at(-1) ?? 0];
  const window = windowWhere({ fromNs: ns(first), toNs: ns(last + seconds) - 1n });
  const where = allOf(scopeWhere({ organization_id }), window, { sql: slotIn(slots, startOf(seconds)), params: {} });
  const table = seconds === hourSeconds ? "span_hour_sums" : "span_sums";
  const parts = [{ where }];
  const { rows } = await database.query(
    { name: "build_sums", sql: "SELECT toUnixTimestamp64Nano(now64(9)) AS version" },
    signal,
  );
  const version = BigInt(String(rows[0]?.["version"]));
  const columns = sumColumnNames.join(", ");
  signal?.throwIfAborted();
  await database.build({
    name: "build_sums",
    sql: `INSERT INTO ${table} (epoch, version, is_deleted, organization_id, slot, environment, model, ${columns})
      SELECT ${epoch}, toUInt64(${version + 1n}), 0, {organization_id:String}, slot, environment, model, ${columns}
        FROM (${sumRows(countedSpans(parts, "FINAL", "all"), seconds)})
      UNION ALL SELECT epoch, toUInt64(${version}), 1, organization_id, slot, environment, model,
        ${sumColumnNames.map((name) => `defaultValueOfArgumentType(${name})`).join(", ")}
        FROM ${table} FINAL WHERE epoch = ${epoch} AND organization_id = {organization_id:String}
        AND ${slotIn(slots, "toUInt32(slot)")} AND slot >= toDateTime(${first}) AND slot <= toDateTime(${last})`,
    params: paramsOfParts(parts),
  });
}

const ns = (seconds: number): bigint => BigInt(seconds) * 1_000_000_000n;

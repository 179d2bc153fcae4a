import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SumsDay, SumsPass, SumsPortion } from "../span-sums.ts";
import { countedSpans, paramsOfParts } from "./counted-spans.ts";
import { markSlots } from "./mark-slots.ts";
import { changedIn, timeOf } from "./plan-sums.ts";
import { allOf, scopeWhere, windowWhere } from "./selection.ts";
import { slotIn, slotSeconds, sumColumnNames, sumRows } from "./sum-columns.ts";

/** @returns the slots to build, in portions. Slots with too many rows get a permanent mark, so reads use their spans. */
export async function listDueSums(
  database: SpanDatabase,
  pass: SumsPass,
  { organization_id, day }: SumsDay,
  portion: SumsPortion,
  signal?: AbortSignal,
): Promise<number[][]> {
  const params = { organization_id, day };
  const parts = changedIn.map(
    (each, index) => `SELECT ${each.slot} AS at, ${index === 0 ? "count()" : "0"} AS rows,
        countIf(stored_at > ${timeOf(pass.afterMs)} AND stored_at <= ${timeOf(pass.untilMs)}) AS added
      FROM ${each.table} WHERE organization_id = {organization_id:String} AND toDate32(${each.time}) = {day:Date32} GROUP BY at`,
  );
  const { rows: due } = await database.query(
    {
      name: "list_due_sums",
      sql: `SELECT at, sum(rows) AS rows FROM (${parts.join(" UNION ALL ")})
        WHERE at < ${pass.closedUntilMs / 1_000} GROUP BY at
        HAVING sum(added) > 0 OR at >= ${pass.closedAfterMs / 1_000} ORDER BY at`,
      params,
    },
    signal,
  );
  const portions: number[][] = [];
  let room = 0;
  for (const row of due) {
    const [slot, rows] = [Number(row["at"]), Number(row["rows"])];
    if (rows > portion.slotRows) {
      await markSlots(database, organization_id, [slot], "always");
      continue;
    }
    if (room < rows || portions.length === 0) {
      portions.push([]);
      room = portion.rows;
    }
    portions.at(-1)?.push(slot);
    room -= rows;
  }
  return portions;
}

/** One insert takes away what there was and puts there what is. Until the pass is finished no read relies on these slots. */
export async function buildSums(
  database: SpanDatabase,
  { epoch }: SumsPass,
  organization_id: string,
  slots: readonly number[],
  signal?: AbortSignal,
): Promise<void> {
  const [first, last] = [slots[0] ?? 0, slots.at(-1) ?? 0];
  const window = windowWhere({ fromNs: ns(first), toNs: ns(last + slotSeconds) - 1n });
  const where = allOf(scopeWhere({ organization_id }), window, { sql: slotIn(slots), params: {} });
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
    sql: `INSERT INTO span_sums (epoch, version, is_deleted, organization_id, slot, environment, model, ${columns})
      SELECT ${epoch}, toUInt64(${version + 1n}), 0, {organization_id:String}, slot, environment, model, ${columns}
        FROM (${sumRows(countedSpans(parts, "FINAL", "all"))})
      UNION ALL SELECT epoch, toUInt64(${version}), 1, organization_id, slot, environment, model,
        ${sumColumnNames.map((name) => `defaultValueOfArgumentType(${name})`).join(", ")}
        FROM span_sums FINAL WHERE epoch = ${epoch} AND organization_id = {organization_id:String}
        AND ${slotIn(slots, "toUInt32(slot)")} AND slot >= toDateTime(${first}) AND slot <= toDateTime(${last})`,
    params: paramsOfParts(parts),
  });
}

const ns = (seconds: number): bigint => BigInt(seconds) * 1_000_000_000n;

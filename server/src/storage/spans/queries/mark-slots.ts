import { randomUUID } from "node:crypto";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { slotOf } from "./sum-columns.ts";
import type { Where } from "./selection.ts";

/** The mark of an hour is a second after its start, where no slot begins. */
export const hourMark = (hour: number): number => hour + 1;

/**
 * Records that slots changed without a new row, see `span_sum_marks`.
 * @param until `always`: reads must use the spans of these slots, or the slots of these hours, whatever is built
 */
export async function markSlots(
  database: SpanDatabase,
  organization_id: string,
  slots: readonly number[],
  until: "built" | "always",
): Promise<void> {
  if (slots.length === 0) return;
  const always = until === "always" ? { stored_at: "2200-01-01 00:00:00.000" } : {};
  const ndjson = Buffer.from(slots.map((slot) => `${JSON.stringify({ organization_id, slot, ...always })}\n`).join(""));
  await database.insert({ ndjson, rows: slots.length, token: randomUUID(), table: "span_sum_marks" });
}

/**
 * Starts a background deletion of rows of `spans` or `span_counts`, and resolves to their number. Marks the slots before and after the start, because a pass may begin
 * between the two. A pass that begins later waits until the deletion ends.
 */
export async function whileMarked(
  database: SpanDatabase,
  deletion: { table: "spans" | "span_counts"; where: Where },
  begin: () => Promise<void>,
  signal?: AbortSignal,
): Promise<number> {
  const { table, where } = deletion;
  const sql = `SELECT organization_id, count() AS rows,
    groupUniqArrayIf(${slotOf}, timestamp >= toDateTime64('1970-01-01 00:00:00', 9, 'UTC')) AS slots
    FROM ${table} WHERE ${where.sql} GROUP BY organization_id`;
  const { rows } = await database.query({ name: "mark_slots", sql, params: where.params }, signal);
  const mark = async () => {
    for (const row of rows) {
      const slots = (row["slots"] as unknown[]).map(Number);
      await markSlots(database, String(row["organization_id"]), slots, "built");
    }
  };
  await mark();
  await begin();
  await mark();
  return rows.reduce((sum, row) => sum + Number(row["rows"]), 0);
}

import { storageLimits } from "../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { localTable, onCluster } from "../migrations/dialect.ts";
import { allOf, scopeWhere, type Where } from "./selection.ts";
import { fieldsEdited } from "./span-edits.ts";

/** Deletes the edits of the spans of `condition`, in the background. */
export async function deleteEdits(
  database: SpanDatabase,
  organization_id: string,
  condition: Where,
  signal?: AbortSignal,
): Promise<void> {
  if ((await fieldsEdited(database, { organization_id }, signal)).size === 0) return;
  const where = allOf(scopeWhere({ organization_id }), condition);
  const sql = `SELECT 1 AS one FROM span_edits WHERE ${where.sql} LIMIT 1`;
  const { rows } = await database.query({ name: "delete_edits", sql, params: where.params }, signal);
  if (rows.length === 0) return;
  await database.execute({
    name: "delete_edits",
    sql: `ALTER TABLE ${localTable(database, "span_edits")}${onCluster(database)} DELETE WHERE ${where.sql}`,
    params: where.params,
    // A span and its edits are on one shard, so the condition reads local tables.
    settings: { mutations_sync: 0, allow_nondeterministic_mutations: 1 },
  });
}

/** Selects the edits of spans that a deletion hides. A replica that lags selects fewer; the next run selects the rest. */
export const editsOfDeleted = (database: SpanDatabase, spans: Where): Where => ({
  sql: `unique_id IN (SELECT unique_id FROM ${localTable(database)} WHERE ${spans.sql} AND is_deleted = 1)`,
  params: spans.params,
});

/**
 * Selects the edits of spans of which every version is older than a time. An edit was made after its span was stored,
 * so recent edits are left to a later run: a replica that lags may not have their spans yet.
 */
export const editsOfOlder = (database: SpanDatabase, cutoffNs: bigint, nowMs: number): Where => ({
  sql: `version < {edited_before:UInt64}
    AND unique_id NOT IN (SELECT unique_id FROM ${localTable(database)} WHERE organization_id = {organization_id:String}
    AND received_at >= fromUnixTimestamp64Nano({cutoff_ns:Int64}, 'UTC')
    AND unique_id IN (SELECT unique_id FROM ${localTable(database, "span_edits")} WHERE organization_id = {organization_id:String}))`,
  params: {
    cutoff_ns: cutoffNs.toString(),
    edited_before: (BigInt(nowMs - storageLimits.editMarginMs) * 1_000_000n).toString(),
  },
});

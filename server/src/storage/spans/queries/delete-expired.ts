import type { SpanDatabase } from "../drivers/span-database.ts";
import { deleteEdits, editsOfOlder } from "./delete-edits.ts";
import { whileMarked } from "./mark-slots.ts";
import { partitionId } from "./partition-id.ts";
import { allOf, scopeWhere, type Where } from "./selection.ts";
import { localTable, onCluster } from "../migrations/dialect.ts";

/**
 * Rewrites the parts that hold such rows, in the background: minutes on a large table, but then the space is free.
 * Deletes of several organisations that wait together are done in one pass.
 */
export async function deleteOlderThan(
  database: SpanDatabase,
  organizationId: string,
  cutoffNs: bigint,
  signal?: AbortSignal,
): Promise<void> {
  const old = allOf(scopeWhere({ organization_id: organizationId }), {
    sql: "received_at < fromUnixTimestamp64Nano({cutoff_ns:Int64}, 'UTC')",
    params: { cutoff_ns: cutoffNs.toString() },
  });
  for (const table of ["spans", "span_counts"] as const) await deleteByMonth(database, table, old, signal);
  await deleteEdits(database, organizationId, editsOfOlder(database, cutoffNs), signal);
  await deleteRows(database, "trace_extents", old, signal);
  const cutoff = { organization_id: organizationId, cutoff_ms: (cutoffNs / 1_000_000n).toString() };
  // Copies of scores go by when they were made.
  const made =
    "organization_id = {organization_id:String} AND created_at < fromUnixTimestamp64Milli({cutoff_ms:Int64}, 'UTC')";
  await deleteRows(database, "scores", { sql: made, params: cutoff }, signal);
}

async function deleteByMonth(
  database: SpanDatabase,
  table: "spans" | "span_counts",
  old: Where,
  signal?: AbortSignal,
): Promise<void> {
  const sql = `SELECT DISTINCT _partition_id AS partition_id FROM ${table} WHERE ${old.sql}`;
  const found = await database.query({ name: "delete_old", sql, params: old.params }, signal);
  if (found.rows.length === 0) return;
  await whileMarked(
    database,
    { table, where: old },
    async () => {
      for (const row of found.rows)
        await deletePart(database, { table, old, partition: partitionId(row["partition_id"]) }, signal);
    },
    signal,
  );
}

async function deletePart(
  database: SpanDatabase,
  { table, old, partition }: { table: "spans" | "span_counts"; old: Where; partition: string },
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  await database.execute({
    name: "delete_old",
    sql: `ALTER TABLE ${localTable(database, table)}${onCluster(database)} DELETE IN PARTITION ID '${partition}' WHERE ${old.sql}`,
    params: old.params,
    settings: { mutations_sync: 0 },
  });
}

/** Of a table that is small and in one partition: a mutation of all of it, where there is any to go. */
async function deleteRows(
  database: SpanDatabase,
  table: "scores" | "trace_extents",
  old: Where,
  signal?: AbortSignal,
): Promise<void> {
  const sql = `SELECT 1 AS one FROM ${table} WHERE ${old.sql} LIMIT 1`;
  const found = await database.query({ name: "delete_old", sql, params: old.params }, signal);
  if (found.rows.length === 0) return;
  await database.execute({
    name: "delete_old",
    sql: `ALTER TABLE ${localTable(database, table)}${onCluster(database)} DELETE WHERE ${old.sql}`,
    params: old.params,
    settings: { mutations_sync: 0 },
  });
}

import type { SpanDatabase } from "../drivers/span-database.ts";
import { allOf, scopeWhere } from "./selection.ts";
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
  const found = await database.query(
    {
      name: "delete_old",
      sql: `SELECT DISTINCT _partition_id AS partition_id FROM spans WHERE ${old.sql}`,
      params: old.params,
    },
    signal,
  );
  const table = `${localTable(database)}${onCluster(database)}`;
  for (const row of found.rows) {
    signal?.throwIfAborted();
    await database.execute({
      name: "delete_old",
      sql: `ALTER TABLE ${table} DELETE IN PARTITION ID '${partitionId(row["partition_id"])}' WHERE ${old.sql}`,
      params: old.params,
      settings: { mutations_sync: 0 },
    });
  }
  await deleteOldScores(database, organizationId, cutoffNs, signal);
}

/** The copies of scores, which are small and in one partition: a mutation of the whole table, where there is any to go. */
async function deleteOldScores(
  database: SpanDatabase,
  organizationId: string,
  cutoffNs: bigint,
  signal?: AbortSignal,
): Promise<void> {
  const old = {
    sql: "organization_id = {organization_id:String} AND created_at < fromUnixTimestamp64Milli({cutoff_ms:Int64}, 'UTC')",
    params: { organization_id: organizationId, cutoff_ms: (cutoffNs / 1_000_000n).toString() },
  };
  const found = await database.query(
    { name: "delete_old", sql: `SELECT 1 AS one FROM scores WHERE ${old.sql} LIMIT 1`, params: old.params },
    signal,
  );
  if (found.rows.length === 0) return;
  await database.execute({
    name: "delete_old",
    sql: `ALTER TABLE ${localTable(database, "scores")}${onCluster(database)} DELETE WHERE ${old.sql}`,
    params: old.params,
    settings: { mutations_sync: 0 },
  });
}

/** Months, as the table is partitioned; a statement is built with it. */
function partitionId(value: unknown): string {
  if (typeof value === "string" && /^\d{6}$/.test(value)) return value;
  throw new Error("a partition of the span table has another id than a month");
}

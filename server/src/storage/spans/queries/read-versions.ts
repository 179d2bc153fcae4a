import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanIdsQuery, StoredVersion } from "../usage-facts.ts";
import { allOf, scopeWhere } from "./selection.ts";

export async function readVersions(
  database: SpanDatabase,
  { organizationId, ids }: SpanIdsQuery,
  signal?: AbortSignal,
): Promise<StoredVersion[]> {
  const where = allOf(scopeWhere({ organization_id: organizationId }), {
    sql: "unique_id IN {ids:Array(UUID)}",
    params: { ids },
  });
  const { rows } = await database.query(
    {
      name: "read_versions",
      sql: `SELECT toString(unique_id) AS id, timestamp, toString(max(version)) AS newest, argMax(is_deleted, version) AS is_gone, min(received_at) AS received
        FROM spans WHERE ${where.sql} GROUP BY environment, unique_id, timestamp`,
      params: where.params,
    },
    signal,
  );
  return rows.map((row) => ({
    unique_id: String(row["id"]),
    timestamp: String(row["timestamp"]),
    version: BigInt(String(row["newest"])),
    isTombstone: Number(row["is_gone"]) === 1,
    received_at: String(row["received"]),
  }));
}

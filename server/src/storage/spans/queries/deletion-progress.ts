import type { DeletionProgress } from "../expired-spans.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";

/** The parts, on all servers, that background deletions and changes still have to process. */
export async function deletionProgress(database: SpanDatabase, signal?: AbortSignal): Promise<DeletionProgress> {
  const { cluster } = database;
  const everywhere = (table: string) => (cluster === null ? table : `clusterAllReplicas('${cluster}', ${table})`);
  const sql = `SELECT count() AS parts, sum(bytes_on_disk) AS bytes FROM ${everywhere("system.parts")}
    WHERE active AND database = currentDatabase() AND (table, name) ${cluster === null ? "" : "GLOBAL "}IN
      (SELECT table, arrayJoin(parts_to_do_names) FROM ${everywhere("system.mutations")}
        WHERE database = currentDatabase() AND NOT is_done)`;
  const { rows } = await database.query({ name: "deletion_progress", sql }, signal);
  return { parts: Number(rows[0]?.["parts"] ?? 0), bytes: Number(rows[0]?.["bytes"] ?? 0) };
}

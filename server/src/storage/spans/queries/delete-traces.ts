import type { TraceDeletion } from "../../../domain/trace.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { localTable, onCluster } from "../migrations/dialect.ts";
import { deleteEdits, editsOfDeleted } from "./delete-edits.ts";
import { allOf, scopeWhere, windowWhere } from "./selection.ts";

/** No version is above that of a deletion, so a repeated row of the same key changes nothing. */
const lastVersion = "18446744073709551615";

// Text is hexadecimal in a statement, which may have 256 KiB.
const tracesPerStatement = 200;

/**
 * Tombstones for all spans of the deletions, in the table when it resolves. They carry no payload, and the time of the
 * deletion as their receipt: retention takes them after what they hide.
 */
export async function deleteTraces(
  database: SpanDatabase,
  deletions: readonly TraceDeletion[],
  signal?: AbortSignal,
): Promise<void> {
  for (const group of groupDeletions(deletions)) {
    signal?.throwIfAborted();
    const [first] = group;
    if (first === undefined) continue;
    const { organization_id, environment, fromNs, toNs } = first;
    const where = allOf(scopeWhere({ organization_id, environment }), windowWhere({ fromNs, toNs }), {
      sql: "trace_unique_id IN {traces:Array(String)}",
      params: { traces: group.map((deletion) => deletion.trace_unique_id) },
    });
    await database.execute({
      name: "delete_traces",
      sql: `INSERT INTO spans (organization_id, environment, timestamp, unique_id, trace_unique_id, start_time, version, is_deleted, is_resend, received_at)
        SELECT organization_id, environment, timestamp, unique_id, trace_unique_id, start_time, toUInt64('${lastVersion}'), 1, 1, now64(9, 'UTC')
        FROM spans FINAL WHERE ${where.sql}`,
      params: where.params,
      settings: { insert_deduplicate: 0, max_partitions_per_insert_block: 0, distributed_foreground_insert: 1 },
    });
    const hidden = allOf(where, { sql: `version = toUInt64('${lastVersion}')`, params: {} });
    await deleteEdits(database, organization_id, editsOfDeleted(database, hidden), signal);
  }
}

/** Those of one scope and window together, a bounded number each. */
function groupDeletions(deletions: readonly TraceDeletion[]): TraceDeletion[][] {
  const open = new Map<string, TraceDeletion[]>();
  const groups: TraceDeletion[][] = [];
  for (const deletion of deletions) {
    const key = [deletion.organization_id, deletion.environment, deletion.fromNs, deletion.toNs].join("\n");
    const group = open.get(key);
    if (group !== undefined && group.length < tracesPerStatement) group.push(deletion);
    else {
      const next = [deletion];
      open.set(key, next);
      groups.push(next);
    }
  }
  return groups;
}

/**
 * Rewrites, in the background, the parts that hold rows hidden by a deletion. The tombstones stay until nothing is left
 * that they hide, and go once they are older than `cutoffNs`: parts are rewritten one after the other, and without its
 * tombstone a row would be back meanwhile.
 */
export async function purgeDeleted(database: SpanDatabase, cutoffNs: bigint, signal?: AbortSignal): Promise<void> {
  const local = localTable(database);
  const tombstone = `is_deleted = 1 AND version = toUInt64('${lastVersion}')`;
  const key = "(organization_id, environment, timestamp, unique_id)";
  const hidden = `is_deleted = 0 AND ${key} IN (SELECT organization_id, environment, timestamp, unique_id FROM ${local} WHERE ${tombstone})`;
  const old = `${tombstone} AND received_at < fromUnixTimestamp64Nano({cutoff_ns:Int64}, 'UTC')`;
  const params = { cutoff_ns: cutoffNs.toString() };
  const { rows } = await database.query(
    {
      name: "purge_deleted",
      sql: `SELECT countIf(${tombstone}) AS tombstones, countIf(${old}) AS old FROM spans WHERE is_deleted = 1`,
      params,
    },
    signal,
  );
  const [counts] = rows;
  if (Number(counts?.["tombstones"] ?? 0) === 0) return;
  const left = await database.query(
    { name: "purge_deleted", sql: `SELECT 1 FROM spans WHERE ${hidden} LIMIT 1`, params },
    signal,
  );
  const condition = left.rows.length > 0 ? hidden : Number(counts?.["old"] ?? 0) > 0 ? old : undefined;
  if (condition === undefined) return;
  await database.execute({
    name: "purge_deleted",
    sql: `ALTER TABLE ${local}${onCluster(database)} DELETE WHERE ${condition}`,
    params: condition === old ? params : {},
    // Replicas may see different tombstones for a moment: one that sees fewer leaves rows to the next time.
    settings: { mutations_sync: 0, allow_nondeterministic_mutations: 1 },
  });
}

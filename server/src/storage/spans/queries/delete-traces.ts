import type { TraceDeletion } from "../../../domain/trace.ts";
import { deletionVersion } from "../usage-facts.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { localTable, onCluster } from "../migrations/dialect.ts";
import { deleteEdits, editsOfDeleted } from "./delete-edits.ts";
import { whileMarked } from "./mark-slots.ts";
import { partitionId } from "./partition-id.ts";
import { allOf, scopeWhere, windowWhere, type Where } from "./selection.ts";

const lastVersion = deletionVersion.toString();

// Text in a statement is hexadecimal, and a statement may have 256 KiB.
const tracesPerStatement = 200;

/**
 * Writes tombstones for all spans of the deletions; stored when it resolves. Tombstones have no payload. They are
 * received at the time of the deletion, so retention deletes them after the rows that they hide.
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

/** Groups deletions by scope and window, a bounded number in each group. */
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
 * In the months with deletions, rewrites in the background the parts with rows that a deletion hides. Tombstones stay
 * until they hide nothing, and are removed once older than `cutoffNs`: parts are rewritten one after the other, and
 * without its tombstone a row would reappear meanwhile.
 */
export async function purgeDeleted(database: SpanDatabase, cutoffNs: bigint, signal?: AbortSignal): Promise<void> {
  const old = `${tombstone} AND received_at < fromUnixTimestamp64Nano({cutoff_ns:Int64}, 'UTC')`;
  const params = { cutoff_ns: cutoffNs.toString() };
  const sql = `SELECT _partition_id AS partition_id, countIf(${tombstone}) AS tombstones, countIf(${old}) AS old
    FROM spans ${deletedOnly} GROUP BY partition_id HAVING tombstones > 0 ORDER BY partition_id`;
  const { rows } = await database.query({ name: "purge_deleted", sql, params }, signal);
  for (const row of rows) {
    signal?.throwIfAborted();
    const oldHere = Number(row["old"]) > 0 ? { sql: old, params } : undefined;
    await purgeMonth(database, partitionId(row["partition_id"]), oldHere, signal);
  }
}

/** Rows that an index finds: see 0029-find-deleted.ts. */
export const deletedOnly = "WHERE is_deleted = 1";
const tombstone = `is_deleted = 1 AND version = toUInt64('${lastVersion}')`;
const key = "(toDate32(timestamp), organization_id, timestamp, unique_id, environment)";

/** A row and its tombstone are in the same month. */
async function purgeMonth(
  database: SpanDatabase,
  partition: string,
  old: Where | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const local = localTable(database);
  // By the table's own key, so that only data near deleted spans is read.
  const hidden = `is_deleted = 0 AND ${key} IN (SELECT ${key} FROM ${local} WHERE _partition_id = '${partition}' AND ${tombstone})`;
  const left = await database.query(
    { name: "purge_deleted", sql: `SELECT 1 FROM spans WHERE _partition_id = '${partition}' AND ${hidden} LIMIT 1` },
    signal,
  );
  const condition = left.rows.length > 0 ? { sql: hidden, params: {} } : old;
  if (condition === undefined) return;
  const purge = () =>
    database.execute({
      name: "purge_deleted",
      sql: `ALTER TABLE ${local}${onCluster(database)} DELETE IN PARTITION ID '${partition}' WHERE ${condition.sql}`,
      params: condition.params,
      // Replicas may see different tombstones for a moment: one that sees fewer leaves rows to the next run.
      settings: { mutations_sync: 0, allow_nondeterministic_mutations: 1 },
    });
  // A pass may not have seen this tombstone yet. Without a mark, the change would be lost when the tombstone is removed.
  if (condition === old) await whileMarked(database, { table: "spans", where: old }, purge, signal);
  else await purge();
}

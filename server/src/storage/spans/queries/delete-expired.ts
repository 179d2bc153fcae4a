import { storageLimits } from "../../limits.ts";
import type { Cutoffs, Expired } from "../expired-spans.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { localTable, onCluster } from "../migrations/dialect.ts";
import { deleteEdits, editsOfOlder } from "./delete-edits.ts";
import { whileMarked } from "./mark-slots.ts";
import { partitionId } from "./partition-id.ts";
import type { Where } from "./selection.ts";

/** `time`: the column that age counts from. Copies of scores age from their creation. */
const tables = [
  { table: "spans", time: "received_at", isMonthly: true },
  { table: "span_counts", time: "received_at", isMonthly: true },
  { table: "trace_extents", time: "received_at", isMonthly: false },
  { table: "scores", time: "created_at", isMonthly: false },
] as const;

type Table = (typeof tables)[number];

/** An organization with expired rows, and the month if the table has months. */
type Old = { organization_id: string; cutoffNs: bigint; oldestNs: bigint; month: string };

/**
 * Runs one mutation for each month of a table, for all organizations together. The engine replaces a part whose rows have all expired by an empty
 * part without reading it, and rewrites only parts with some expired rows. A mutation is safe beside inserts: it keeps spans of an old month that
 * arrive meanwhile. Dropping the partition would delete them.
 */
export async function deleteExpired(database: SpanDatabase, cutoffs: Cutoffs, signal?: AbortSignal): Promise<Expired> {
  const done = { rows: 0, months: 0, overdueMs: 0 };
  const failures: unknown[] = [];
  if (cutoffs.size === 0) return done;
  await deleteOldEdits(database, cutoffs, signal);
  for (const table of tables) {
    const old = await findOld(database, table, cutoffs, signal);
    for (const { cutoffNs, oldestNs } of old)
      done.overdueMs = Math.max(done.overdueMs, Number((cutoffNs - oldestNs) / 1_000_000n));
    for (const group of groupsOf(old)) {
      signal?.throwIfAborted();
      try {
        const rows = await deleteGroup(database, table, group, signal);
        if (table.table !== "spans") continue;
        done.rows += rows;
        done.months += 1;
      } catch (error) {
        signal?.throwIfAborted();
        failures.push(error);
      }
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "some expired rows could not be deleted");
  return done;
}

async function findOld(
  database: SpanDatabase,
  { table, time, isMonthly }: Table,
  cutoffs: Cutoffs,
  signal?: AbortSignal,
): Promise<Old[]> {
  const sql = `SELECT organization_id, ${isMonthly ? "_partition_id" : "''"} AS month,
    toString(toUnixTimestamp64Nano(toDateTime64(min(${time}), 9, 'UTC'))) AS oldest
    FROM ${table} GROUP BY organization_id, month ORDER BY month`;
  const { rows } = await database.query({ name: "delete_expired", sql }, signal);
  return rows.flatMap((row) => {
    const [organization_id, oldestNs] = [String(row["organization_id"]), BigInt(String(row["oldest"]))];
    const cutoffNs = cutoffs.get(organization_id);
    if (cutoffNs === undefined || oldestNs >= cutoffNs) return [];
    return [{ organization_id, cutoffNs, oldestNs, month: isMonthly ? partitionId(row["month"]) : "" }];
  });
}

/** Includes organizations without expired spans: a run leaves recent edits to a later one. */
async function deleteOldEdits(database: SpanDatabase, cutoffs: Cutoffs, signal?: AbortSignal): Promise<void> {
  const sql = "SELECT DISTINCT organization_id FROM span_edits";
  const { rows } = await database.query({ name: "delete_expired", sql }, signal);
  for (const organization_id of rows.map((row) => String(row["organization_id"]))) {
    const cutoffNs = cutoffs.get(organization_id);
    if (cutoffNs === undefined) continue;
    await deleteEdits(database, organization_id, editsOfOlder(database, cutoffNs, Date.now()), signal);
  }
}

/** Groups organizations by month, at most as many as a statement may name. */
function* groupsOf(old: readonly Old[]): Generator<readonly Old[]> {
  for (const [, ofMonth] of Map.groupBy(old, ({ month }) => month)) {
    for (let from = 0; from < ofMonth.length; from += storageLimits.retentionOrganizations)
      yield ofMonth.slice(from, from + storageLimits.retentionOrganizations);
  }
}

/** Resolves to the number of rows; 0 for a table without months. */
async function deleteGroup(
  database: SpanDatabase,
  { table, time, isMonthly }: Table,
  group: readonly Old[],
  signal?: AbortSignal,
): Promise<number> {
  const where = whereOf(time, group);
  const month = group[0]?.month ?? "";
  const begin = () =>
    database.execute({
      name: "delete_expired",
      sql: `ALTER TABLE ${localTable(database, table)}${onCluster(database)} DELETE
        ${isMonthly ? `IN PARTITION ID '${month}'` : ""} WHERE ${where.sql}`,
      params: where.params,
      settings: { mutations_sync: 0 },
    });
  if (isMonthly) {
    const here = { sql: `_partition_id = '${month}' AND ${where.sql}`, params: where.params };
    return await whileMarked(database, { table, where: here }, begin, signal);
  }
  await begin();
  return 0;
}

function whereOf(time: string, group: readonly Old[]): Where {
  const params: Where["params"] = {};
  const terms = [...Map.groupBy(group, ({ cutoffNs }) => cutoffNs)].map(([cutoffNs, old], index) => {
    params[`organizations_${index}`] = old.map(({ organization_id }) => organization_id);
    params[`cutoff_${index}`] = cutoffNs.toString();
    return `(organization_id IN {organizations_${index}:Array(String)}
      AND ${time} < fromUnixTimestamp64Nano({cutoff_${index}:Int64}, 'UTC'))`;
  });
  return { sql: `(${terms.join(" OR ")})`, params };
}

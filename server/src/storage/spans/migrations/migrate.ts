import { NewerTables } from "../../newer-tables.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { createSpans } from "./0001-spans.ts";
import { markSpans } from "./0002-span-marks.ts";
import { createScores } from "./0010-scores.ts";
import { createCustomers } from "./0011-customers.ts";
import { settleSmallParts } from "./0012-small-parts.ts";
import { addCallIds } from "./0013-call-ids.ts";
import { createSpanCounts } from "./0014-span-counts.ts";
import { createTraceExtents } from "./0015-trace-extents.ts";
import { addReceipts } from "./0016-receipts.ts";
import { createMedia } from "./0019-media.ts";
import { createSpanEdits } from "./0020-span-edits.ts";
import { createSpanSums } from "./0022-span-sums.ts";
import { compactInserts } from "./0024-compact-inserts.ts";
import { sayWhoRuns } from "./0027-runs-from.ts";
import { createHourSums } from "./0028-hour-sums.ts";
import { findDeleted } from "./0029-find-deleted.ts";
import { packColumns } from "./0030-packed-columns.ts";
import { localTable, mergeTree, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * In order; each is applied once and never changed after a release. Every statement must be safe to repeat: nodes that
 * start together may run it together, and a node that dies half way leaves the rest to the next start.
 */
export const spanMigrations: readonly Migration[] = [
  { version: 1, name: "spans", statements: createSpans },
  { version: 2, name: "span marks", statements: markSpans, unless: "has_parent" },
  { version: 10, name: "scores", statements: createScores },
  { version: 11, name: "customers", statements: createCustomers },
  { version: 12, name: "small parts", statements: settleSmallParts },
  { version: 13, name: "call ids", statements: addCallIds },
  { version: 14, name: "span counts", statements: createSpanCounts },
  { version: 15, name: "trace extents", statements: createTraceExtents },
  { version: 16, name: "receipts", statements: addReceipts },
  { version: 19, name: "media", statements: createMedia },
  { version: 20, name: "span edits", statements: createSpanEdits },
  { version: 22, name: "span sums", statements: createSpanSums },
  { version: 24, name: "compact inserts", statements: compactInserts },
  { version: 27, name: "runs from", statements: sayWhoRuns },
  { version: 28, name: "hour sums", statements: createHourSums },
  { version: 29, name: "find deleted", statements: findDeleted },
  { version: 30, name: "packed columns", statements: packColumns },
];

/** The same as for the control database: ../../control/migrations/runs-from.ts. */
export const spansRunFrom = 27;
const firstThatSays = 27;

type Migration = {
  version: number;
  name: string;
  statements: (placement: Placement, isKnownSetting: (name: string) => boolean) => string[];
  /** The column of `spans` whose presence shows that there is nothing to do. */
  unless?: string;
};

export async function migrateSpans(database: SpanDatabase): Promise<void> {
  // A statement ON CLUSTER waits for every replica and fails if one is away, so none runs if nothing has to change.
  if (!(await hasTable(database, versions)))
    for (const sql of versionTable(database)) await database.execute({ name: "migrate", sql });
  const { rows } = await database.query({ name: "migrate", sql: "SELECT version, name FROM span_migrations FINAL" });
  const applied = new Set(rows.map((row) => Number(row["version"])));
  const newest = rows.findLast((row) => !spanMigrations.some(({ version }) => version === Number(row["version"])));
  if (newest !== undefined)
    return await refuseUnusable(database, applied, `${String(newest["version"])}, ${String(newest["name"])}`);
  const known = await tableSettings(database);
  for (const { version, name, statements, unless } of spanMigrations) {
    if (applied.has(version)) continue;
    const isDone = unless !== undefined && (await hasColumn(database, unless));
    for (const sql of isDone ? [] : statements(database, (setting) => known.has(setting)))
      await database.execute({ name: "migrate", sql });
    const [columns, values] = version < firstThatSays ? ["", ""] : [", runs_from", `, ${spansRunFrom}`];
    await database.execute({
      name: "migrate",
      sql: `INSERT INTO span_migrations (version, name${columns}) SELECT {version:UInt32}, {name:String}${values}`,
      params: { version: String(version), name },
    });
  }
}

/**
 * Leaves tables of a newer version as they are if they say that this version can use them. @throws NewerTables
 * otherwise
 */
async function refuseUnusable(database: SpanDatabase, applied: ReadonlySet<number>, change: string): Promise<void> {
  const sql = "SELECT max(runs_from) AS runs_from FROM span_migrations";
  const isStated = applied.has(firstThatSays);
  const { rows } = isStated ? await database.query({ name: "migrate", sql }) : { rows: [] };
  const isKnown =
    Number(rows[0]?.["runs_from"] ?? Infinity) <= Math.max(...spanMigrations.map(({ version }) => version));
  if (isKnown && spanMigrations.every(({ version }) => applied.has(version))) return;
  throw new NewerTables("The span store", change);
}

async function tableSettings(database: SpanDatabase): Promise<Set<unknown>> {
  const { rows } = await database.query({ name: "migrate", sql: "SELECT name FROM system.merge_tree_settings" });
  return new Set(rows.map((row) => row["name"]));
}

async function hasColumn(database: SpanDatabase, column: string): Promise<boolean> {
  const sql = `SELECT 1 FROM system.columns WHERE database = currentDatabase() AND table = {table:String} AND name = {column:String}`;
  const params = { table: localTable(database), column };
  return (await database.query({ name: "migrate", sql, params })).rows.length > 0;
}

async function hasTable(database: SpanDatabase, table: string): Promise<boolean> {
  const sql = "SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = {table:String}";
  return (await database.query({ name: "migrate", sql, params: { table } })).rows.length > 0;
}

const versions = "span_migrations";

function versionTable(placement: Placement): string[] {
  const engine = mergeTree(placement, versions, {
    name: "ReplacingMergeTree",
    args: [],
    isOnEveryShard: true,
  });
  return [
    `CREATE TABLE IF NOT EXISTS span_migrations${onCluster(placement)} (version UInt32, name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
    ENGINE = ${engine} ORDER BY version`,
  ];
}

/** All DDL for a placement, in order, for an engine that has every setting. */
export function migrationStatements(placement: Placement): string[] {
  return [...versionTable(placement), ...spanMigrations.flatMap(({ statements }) => statements(placement, () => true))];
}

import { DatabaseSync } from "node:sqlite";
import { Kysely } from "kysely";
import { Migrator } from "kysely/migration";
import { expect, test } from "vitest";
import { NodeSqliteDialect } from "../drivers/node-sqlite-dialect.ts";
import { controlMigrations } from "./list.ts";
import { controlRunsFrom } from "./runs-from.ts";

/** Names of migrations that databases of released versions have applied. Add those of a release, never change one. */
const released = [
  "0001-create-accounts",
  "0002-create-trace-records",
  "0003-create-customers",
  "0004-create-provider-settings",
  "0005-create-webhooks",
  "0006-create-evaluation",
  "0007-remember-reached-budgets",
  "0008-block-organizations",
  "0009-reserve-judgements",
  "0013-split-permissions",
  "0014-create-people",
  "0015-name-signatures",
];

test("new migrations come after released ones by name: the migrator refuses a database otherwise", () => {
  for (const dialect of ["sqlite", "postgres"] as const) {
    const names = Object.keys(controlMigrations(dialect));
    expect(names).toEqual(names.toSorted());
    expect(names.slice(0, released.length)).toEqual(released);
  }
});

test("N9: migrations after the one that programs must know only add, so that older programs can still read and write", async () => {
  const database = new DatabaseSync(":memory:");
  const db = new Kysely<unknown>({ dialect: new NodeSqliteDialect(() => Promise.resolve(database)) });
  const migrations = controlMigrations("sqlite");
  const names = Object.keys(migrations);
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  /** For every column: its type, whether an insert must set it, and its place in the primary key. */
  const shape = () => {
    const tables = database.prepare("select name from sqlite_master where type = 'table' order by name").all();
    return tables.flatMap(({ name }) =>
      database
        .prepare(`pragma table_info("${String(name)}")`)
        .all()
        .map((column) => ({
          column: `${String(name)}.${String(column["name"])}`,
          kind: `${String(column["type"])} ${String(column["pk"])}`,
          isNeeded: column["notnull"] === 1 && column["dflt_value"] === null && column["pk"] === 0,
        })),
    );
  };
  expect((await migrator.migrateTo(controlRunsFrom)).error).toBeUndefined();
  expect(names).toContain(controlRunsFrom);
  const before = new Map(shape().map((each) => [each.column, each]));
  const tables = new Set([...before.keys()].map((column) => column.split(".")[0]));
  expect((await migrator.migrateToLatest()).error).toBeUndefined();
  const after = new Map(shape().map((each) => [each.column, each]));
  for (const [column, was] of before) expect(after.get(column)).toEqual(was);
  const needed = [...after.values()].filter(({ column, isNeeded }) => isNeeded && !before.has(column));
  expect(needed.filter(({ column }) => tables.has(column.split(".")[0]))).toEqual([]);
  await db.destroy();
});

import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { openControlDatabase } from "../../src/storage/control/open-control-database.ts";
import { openSpanDatabase } from "../../src/storage/spans/clickhouse-span-store.ts";
import { newDataDir, runAdminProcess, startServerProcess } from "../support/server-process.ts";
import { createSpan, retrieveSpan } from "../support/spans.ts";

const folder = newDataDir();
afterAll(() => folder.remove());

/** Runs DDL of a newer version on the stores of a stopped server. */
async function change(spans: readonly string[], control: string): Promise<void> {
  const engine = openSpanDatabase({ kind: "chdb", path: join(folder.path, "spans") });
  for (const statement of spans) await engine.execute({ name: "test", sql: statement });
  await engine.close();
  const database = openControlDatabase({ kind: "sqlite", path: join(folder.path, "control.db") });
  await sql.raw(control).execute(database.queries);
  await database.close();
}

const applied = (version: number, runsFrom: number) =>
  `INSERT INTO span_migrations (version, name, runs_from) SELECT ${version}, 'later ${version}', ${runsFrom}`;

test("N9: a node runs on tables that a newer version has extended, and refuses other newer tables in one sentence", async () => {
  const first = await startServerProcess(folder.path);
  const span = await createSpan(first.prod, { input: "before" });
  await first.kill("SIGTERM");
  await change(
    ["ALTER TABLE spans ADD COLUMN expanded Nullable(Float64)", applied(998, 27)],
    "insert into kysely_migration (name, timestamp) values ('9998-expand', '2027')",
  );
  const older = await startServerProcess(folder.path);
  const later = await createSpan(older.prod, { input: "after" });
  expect(await retrieveSpan(older.prod, span["unique_id"])).toMatchObject({ input: "before" });
  expect(await retrieveSpan(older.prod, later["unique_id"])).toMatchObject({ input: "after" });
  await older.kill("SIGTERM");

  await change([applied(999, 998)], "update schema_support set runs_from = runs_from");
  const refusal = await startServerProcess(folder.path).catch(String);
  expect(refusal).toMatch(
    /The span store was changed by a newer version of Spanway \(999, later 999\), .* start this node/,
  );
  expect(refusal).not.toMatch(/ {4}at /);
  await change([], "update schema_support set runs_from = '9998-expand'");
  const refused = await runAdminProcess(folder.path, ["organizations", "list"]).catch(String);
  expect(refused).toContain("The control database was changed by a newer version of Spanway (9998-expand)");
  expect(refused).not.toMatch(/ {4}at /);
}, 90_000);

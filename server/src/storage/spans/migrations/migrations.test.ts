import { fork } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClusterDdlReply, ClusterDdlRequest } from "../../../../test/support/cluster-ddl-process.ts";
import type { ColumnKind } from "../../../domain/span.ts";
import { spanColumns } from "../../../domain/span.ts";
import { openEmbeddedDatabase } from "../drivers/embedded-database.ts";
import type { Statement } from "../drivers/span-database.ts";
import { createSpans } from "./0001-spans.ts";
import { settleSmallParts, smallPartSettings } from "./0012-small-parts.ts";
import { migrateSpans, migrationStatements, spanMigrations, spansRunFrom } from "./migrate.ts";

const folder = mkdtempSync(join(tmpdir(), "spanway-migrations-"));
let reply: ClusterDdlReply;
beforeAll(async () => {
  const child = fork(join(import.meta.dirname, "../../../../test/support/cluster-ddl-process.ts"), [folder], {
    execArgv: [],
  });
  const statements = migrationStatements({ cluster: "main", database: "default" });
  const request: ClusterDdlRequest = {
    // Twice, because every node of a cluster runs them.
    statements: [...statements, ...statements],
    queries: [
      "SELECT name, engine, engine_full FROM system.tables WHERE database = 'default' ORDER BY name",
      "SELECT name, type FROM system.columns WHERE database = 'default' AND table = 'spans_local' ORDER BY position",
      "SELECT name FROM system.merge_tree_settings",
    ],
  };
  child.send(request);
  [reply] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code, signal]) => [{ error: `the engine ended: ${code ?? signal}` }]),
  ])) as [ClusterDdlReply];
  child.kill("SIGKILL");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function rowsOf<Row>(index: number): Row[] {
  if ("error" in reply) throw new Error(reply.error);
  return reply.rows[index] as Row[];
}

const engineTypes: Record<ColumnKind, RegExp> = {
  text: /^(LowCardinality\(String\)|String)$/,
  json: /^String$/,
  uuid: /^UUID$/,
  time: /^DateTime64\(9, 'UTC'\)$/,
  integer: /^(Nullable\(Int64\)|UInt64|UInt8)$/,
  number: /^Nullable\(Float64\)$/,
  boolean: /^Nullable\(Bool\)$/,
  map: /^Map\(LowCardinality\(String\), String\)$/,
};

describe("migrations", () => {
  it("N4: are accepted by a cluster, any number of times", () => {
    const tables = rowsOf<{ name: string; engine: string; engine_full: string }>(0);
    expect(tables.map(({ name, engine }) => [name, engine])).toEqual([
      ["customers", "ReplicatedReplacingMergeTree"],
      ["media", "Distributed"],
      ["media_local", "ReplicatedReplacingMergeTree"],
      ["scores", "Distributed"],
      ["scores_local", "ReplicatedReplacingMergeTree"],
      ["span_counts", "Distributed"],
      ["span_counts_local", "ReplicatedReplacingMergeTree"],
      ["span_edits", "Distributed"],
      ["span_edits_local", "ReplicatedReplacingMergeTree"],
      ["span_hour_sums", "Distributed"],
      ["span_hour_sums_local", "ReplicatedReplacingMergeTree"],
      ["span_migrations", "ReplicatedReplacingMergeTree"],
      ["span_sum_marks", "Distributed"],
      ["span_sum_marks_local", "ReplicatedReplacingMergeTree"],
      ["span_sum_passes", "ReplicatedReplacingMergeTree"],
      ["span_sum_turns", "ReplicatedReplacingMergeTree"],
      ["span_sums", "Distributed"],
      ["span_sums_local", "ReplicatedReplacingMergeTree"],
      ["spans", "Distributed"],
      ["spans_local", "ReplicatedReplacingMergeTree"],
      ["trace_extents", "Distributed"],
      ["trace_extents_local", "ReplicatedAggregatingMergeTree"],
    ]);
    const local = "'/clickhouse/tables/{shard}/default/spans_local', '{replica}', version, is_deleted";
    expect(tables.find(({ name }) => name === "spans_local")?.engine_full).toContain(local);
  });

  it("N9: only add after the one that programs must know, so that older programs can still read and write", () => {
    const adds =
      /^\s*(CREATE TABLE IF NOT EXISTS|ALTER TABLE \w+( ON CLUSTER '\w+')? (ADD (COLUMN|INDEX) IF NOT EXISTS|MATERIALIZE (COLUMN|INDEX)|MODIFY SETTING)) /;
    const later = spanMigrations.filter(({ version }) => version > spansRunFrom);
    expect(spanMigrations.map(({ version }) => version)).toContain(spansRunFrom);
    expect(later.length).toBeGreaterThan(0);
    for (const cluster of [null, "main"]) {
      const statements = later.flatMap((each) => each.statements({ cluster, database: "default" }, () => true));
      // Each statement makes one change: another one could hide behind a comma.
      const changes = statements.map(
        (sql) => sql.match(/\b(ADD|MATERIALIZE|MODIFY|DROP|RENAME|CREATE|CLEAR)\s/g)?.length,
      );
      expect(statements.filter((sql, at) => !adds.test(sql) || changes[at] !== 1)).toEqual([]);
    }
  });

  it("skip settings that an older server does not have", () => {
    const single = { cluster: null, database: "default" };
    const isOld = (setting: string) => setting === "merge_selector_base";
    expect(settleSmallParts(single, isOld)).toEqual(["ALTER TABLE spans MODIFY SETTING merge_selector_base = 10"]);
    expect(settleSmallParts(single, () => false)).toEqual([]);
    const known = rowsOf<{ name: string }>(2).map(({ name }) => name);
    for (const [name] of smallPartSettings) expect(known).toContain(name);
  });

  it("create a table with exactly the columns of a span", () => {
    const columns = rowsOf<{ name: string; type: string }>(1).filter(
      ({ name }) => !["has_parent", "stored_at", "packed"].includes(name),
    );
    expect(columns.map(({ name }) => name)).toEqual(Object.keys(spanColumns));
    for (const { name, type } of columns) {
      expect(type, name).toMatch(engineTypes[(spanColumns as Record<string, ColumnKind>)[name]!]);
    }
  });

  it("change a table of an earlier version, and keep its rows", async () => {
    const database = openEmbeddedDatabase(join(folder, "earlier"));
    const row = { organization_id: "org_a", environment: "prod", timestamp: "2026-01-01 00:00:00", version: "1" };
    try {
      for (const sql of createSpans(database)) await database.execute({ name: "test", sql });
      const ndjson = Buffer.from(`${JSON.stringify({ ...row, unique_id: randomUUID() })}\n`);
      await database.insert({ ndjson, rows: 1, token: "one" });
      for (let start = 0; start < 2; start += 1) await migrateSpans(database);
      const query = async (sql: string) => (await database.query({ name: "test", sql })).rows[0];
      expect(await query("SELECT count() AS rows FROM spans")).toEqual({ rows: "1" });
      const table = await query("SELECT engine_full FROM system.tables WHERE name = 'spans'");
      for (const [name, value] of smallPartSettings) expect(table?.["engine_full"]).toContain(`${name} = ${value}`);
    } finally {
      await database.close();
    }
  });

  it("N4: run nothing if nothing has to change, so that an absent replica blocks no start", async () => {
    const database = openEmbeddedDatabase(join(folder, "started"));
    const ran: string[] = [];
    const execute = async (statement: Statement) => {
      ran.push(statement.sql);
      await database.execute(statement);
    };
    try {
      await migrateSpans({ ...database, execute });
      expect(ran.length).toBeGreaterThan(0);
      ran.length = 0;
      await migrateSpans({ ...database, execute });
      expect(ran).toEqual([]);
    } finally {
      await database.close();
    }
  });

  it("store an insert of any size in few files, and merged parts in a file for each column", async () => {
    const database = openEmbeddedDatabase(join(folder, "parts"));
    try {
      await migrateSpans(database);
      const output = randomBytes(45_000).toString("base64");
      const insert = async (token: string) => {
        const rows = Array.from({ length: 250 }, () => ({ organization_id: "org_a", unique_id: randomUUID(), output }));
        const timed = rows.map((row) => ({
          environment: "prod",
          timestamp: "2026-01-01 00:00:00",
          version: "1",
          ...row,
        }));
        const ndjson = Buffer.from(timed.map((row) => `${JSON.stringify(row)}\n`).join(""));
        await database.insert({ ndjson, rows: rows.length, token });
      };
      const kinds = async () => {
        const sql = "SELECT DISTINCT part_type FROM system.parts WHERE active AND table = 'spans'";
        return (await database.query({ name: "test", sql })).rows.map((row) => row["part_type"]);
      };
      await insert("one");
      await insert("two");
      expect(await kinds()).toEqual(["Compact"]);
      await database.execute({ name: "test", sql: "OPTIMIZE TABLE spans FINAL" });
      expect(await kinds()).toEqual(["Wide"]);
    } finally {
      await database.close();
    }
  });

  it("store a conversation in which every turn repeats the earlier ones in a small part of its size", async () => {
    const database = openEmbeddedDatabase(join(folder, "conversation"));
    const turns = 200;
    const messages = Array.from({ length: turns }, () => ({
      role: "user",
      content: randomBytes(300).toString("base64"),
    }));
    const rows = messages.map((_, turn) => ({
      organization_id: "org_a",
      environment: "prod",
      timestamp: `2026-01-01 00:00:00.${String(turn).padStart(3, "0")}`,
      version: "1",
      unique_id: randomUUID(),
      prompt_messages: JSON.stringify(messages.slice(0, turn + 1)),
    }));
    try {
      await migrateSpans(database);
      const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
      await database.insert({ ndjson, rows: turns, token: "turns" });
      const { rows: sizes } = await database.query({
        name: "test",
        sql: `SELECT toFloat64(sum(data_compressed_bytes)) AS stored FROM system.parts WHERE active AND table = 'spans'`,
      });
      const once = JSON.stringify(messages).length;
      expect(ndjson.length).toBeGreaterThan(90 * once);
      expect(sizes[0]?.["stored"]).toBeLessThan(10 * once);
    } finally {
      await database.close();
    }
  });
});

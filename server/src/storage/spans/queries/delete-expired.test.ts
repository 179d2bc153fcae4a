import { randomUUID } from "node:crypto";
import { mkdtempSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestClickHouse, type TestClickHouse } from "../../../../test/support/clickhouse-http-server.ts";
import { openEmbeddedDatabase } from "../drivers/embedded-database.ts";
import { openHttpDatabase } from "../drivers/http-database.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { migrateSpans } from "../migrations/migrate.ts";
import { deleteExpired } from "./delete-expired.ts";
import { deletionProgress } from "./deletion-progress.ts";

const cleanup: Array<() => Promise<unknown>> = [];
afterAll(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

async function embedded(): Promise<SpanDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "spanway-expired-"));
  cleanup.push(() => rm(folder, { recursive: true }));
  return openEmbeddedDatabase(join(folder, "spans"));
}

const overHttp = (mode?: "cluster") => async (): Promise<SpanDatabase> => {
  const server: TestClickHouse = await startTestClickHouse(mode);
  cleanup.push(() => server.stop());
  const cluster = mode === undefined ? null : "main";
  return openHttpDatabase({ url: server.url, username: "default", password: "", database: "default", cluster });
};

describe.each([
  { name: "the embedded store", open: embedded },
  { name: "ClickHouse over HTTP", open: overHttp() },
  { name: "a cluster of two shards", open: overHttp("cluster") },
])("retention on $name", ({ open }) => {
  let database: SpanDatabase;
  beforeAll(async () => {
    database = await open();
    cleanup.push(() => database.close());
    await migrateSpans(database);
  }, 120_000);

  /**
   * The files with the rows of each month, by inode: a part that is not rewritten keeps its files, even under another
   * name.
   */
  const files = async (): Promise<Record<string, { rows: number; inodes: number[] }>> => {
    const { rows } = await database.query({
      name: "parts",
      sql: `SELECT partition_id, path, toUInt32(rows) AS rows FROM system.parts
        WHERE active AND table IN ('spans', 'spans_local') ORDER BY path`,
    });
    const months: Record<string, { rows: number; inodes: number[] }> = {};
    for (const row of rows) {
      const month = (months[String(row["partition_id"])] ??= { rows: 0, inodes: [] });
      month.rows += Number(row["rows"]);
      if (Number(row["rows"]) > 0) month.inodes.push(statSync(join(String(row["path"]), "data.bin")).ino);
    }
    for (const { inodes } of Object.values(months)) inodes.sort((a, b) => a - b);
    return months;
  };

  test("drops months that have only expired rows, rewrites months that have some, and leaves the others unchanged", async () => {
    const row = (organization_id: string, month: string, received: string) =>
      JSON.stringify({
        organization_id,
        environment: "prod",
        timestamp: `${month}-05 00:00:00.000000000`,
        received_at: `${received} 00:00:00.000000000`,
        unique_id: randomUUID(),
        version: "1",
        output: "x".repeat(1_000),
      });
    const lines = Array.from({ length: 20 }, () => [
      row("one", "2023-01", "2023-01-06"),
      row("other", "2023-01", "2023-01-07"),
      row("one", "2023-02", "2023-02-06"),
      row("keeps all", "2023-02", "2023-02-06"),
      row("one", "2023-03", "2023-03-06"),
    ]).flat();
    await database.insert({ ndjson: Buffer.from(`${lines.join("\n")}\n`), rows: lines.length, token: randomUUID() });
    const before = await files();
    expect(Object.values(before).map(({ rows }) => rows)).toEqual([40, 40, 20]);

    const cutoffNs = BigInt(Date.parse("2023-03-01T00:00:00Z")) * 1_000_000n;
    const done = await deleteExpired(database, new Map(["one", "other"].map((id) => [id, cutoffNs])));
    expect(done).toMatchObject({ rows: 60, months: 2 });
    await vi.waitFor(async () => expect(await deletionProgress(database)).toEqual({ parts: 0, bytes: 0 }), 60_000);
    const after = await files();
    expect(after["202301"]?.rows ?? 0).toBe(0);
    expect(after["202302"]?.rows).toBe(20);
    expect(after["202302"]?.inodes).not.toEqual(before["202302"]?.inodes);
    expect(after["202303"]).toEqual(before["202303"]);
  }, 120_000);
});

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmbeddedDatabase } from "../drivers/embedded-database.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { migrateSpans } from "../migrations/migrate.ts";
import { deletedOnly } from "./delete-traces.ts";

let folder: string;
let database: SpanDatabase;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "spanway-purge-"));
  database = openEmbeddedDatabase(join(folder, "spans"));
  await migrateSpans(database);
}, 60_000);
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

test("the purge reads only ranges of spans with deletions", async () => {
  const rows = Array.from({ length: 100_000 }, (_, n) =>
    JSON.stringify({
      organization_id: "org",
      environment: "prod",
      timestamp: `2026-05-${String(1 + (n % 20)).padStart(2, "0")} 00:00:00.000000000`,
      unique_id: randomUUID(),
      version: "1",
      is_deleted: n === 1 ? 1 : 0,
    }),
  );
  await database.insert({ ndjson: Buffer.from(`${rows.join("\n")}\n`), rows: rows.length, token: randomUUID() });
  const sql = `EXPLAIN indexes = 1, json = 1 SELECT count() FROM spans ${deletedOnly}`;
  const { rows: lines } = await database.query({ name: "explain", sql });
  const plan = lines.map((line) => String(line["explain"])).join("\n");
  const index = /"Name": "is_deleted_minmax"[\s\S]*?"Initial Granules": (\d+),[\s\S]*?"Selected Granules": (\d+)/.exec(
    plan,
  );
  const [initial, selected] = [Number(index?.[1]), Number(index?.[2])];
  expect(initial).toBeGreaterThan(90);
  expect(selected).toBeLessThanOrEqual(64);
});

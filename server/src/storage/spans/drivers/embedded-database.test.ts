import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { storageLimits } from "../../limits.ts";
import { openEmbeddedDatabase } from "./embedded-database.ts";

const folder = mkdtempSync(join(tmpdir(), "spanway-blocks-"));
const database = openEmbeddedDatabase(folder);
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const blockBytes = async (): Promise<number> => {
  const sql = "SELECT value FROM system.metrics WHERE metric = 'UncompressedCacheBytes'";
  return Number((await database.query({ name: "test", sql })).rows[0]?.["value"]);
};

test("reads keep decompressed blocks within the limit", async () => {
  await database.execute({ name: "test", sql: "CREATE TABLE texts (text String) ENGINE = MergeTree ORDER BY ()" });
  const rows = Math.ceil((1.5 * storageLimits.embeddedBlockCacheBytes) / 1_000);
  await database.execute({
    name: "test",
    sql: `INSERT INTO texts SELECT repeat(toString(number % 10), 1000) FROM numbers(${rows})`,
  });
  const read = (upTo: number) =>
    database.query({ name: "test", sql: `SELECT sum(cityHash64(text)) FROM (SELECT text FROM texts LIMIT ${upTo})` });
  const before = await blockBytes();
  await read(Math.ceil(rows / 10));
  const few = await blockBytes();
  expect(few).toBeGreaterThan(before);
  await read(rows);
  expect(await blockBytes()).toBeGreaterThan(few);
  expect(await blockBytes()).toBeLessThanOrEqual(storageLimits.embeddedBlockCacheBytes);
});

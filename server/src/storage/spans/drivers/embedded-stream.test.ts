import type * as Files from "node:fs/promises";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openEmbeddedDatabase } from "./embedded-database.ts";
import type { SpanDatabase } from "./span-database.ts";

/** Bytes that the disk seems to have free. */
const disk = vi.hoisted(() => ({ freeBytes: Number.MAX_SAFE_INTEGER }));
vi.mock("node:fs/promises", async (original) => ({
  ...(await original<typeof Files>()),
  statfs: async () => ({ bavail: disk.freeBytes, bsize: 1 }),
}));

const folder = mkdtempSync(join(tmpdir(), "spanway-stream-"));
let database: SpanDatabase;
beforeAll(() => {
  database = openEmbeddedDatabase(folder);
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes without an end in any time that a test takes: a block of text every 50 ms. */
const endless = {
  name: "test",
  sql: "SELECT randomPrintableASCII(1000) AS text, sleepEachRow(0.0005) AS slept FROM numbers(100000000)",
  settings: { max_block_size: 100, max_threads: 1 },
};

test("a Parquet export is killed when the disk becomes nearly full", async () => {
  let bytes = 0;
  const take = async (piece: Uint8Array): Promise<void> => {
    bytes += piece.length;
    disk.freeBytes = 0;
  };
  await expect(database.stream(endless, "parquet", take, new AbortController().signal)).rejects.toThrow("no room");
  expect(bytes).toBeGreaterThan(0);
  const running = async (): Promise<unknown[]> => {
    const sql =
      "SELECT query FROM system.processes WHERE query LIKE '%randomPrintable%' AND query NOT LIKE '%processes%'";
    return (await database.query({ name: "test", sql })).rows;
  };
  await expect.poll(running, { timeout: 10_000 }).toEqual([]);
}, 60_000);

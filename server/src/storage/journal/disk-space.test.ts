import { closeSync, mkdtempSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { expect, test } from "vitest";
import { bytesOnDisk, readFreePages } from "./disk-space.ts";

test("every page of the file is used or free, with the transaction that freed it", async () => {
  const path = mkdtempSync(join(tmpdir(), "spanway-free-"));
  const root = open({ path, noSync: true, eventTurnBatching: false });
  const values = root.openDB<Buffer, number>({ name: "values", encoding: "binary" });
  const file = openSync(join(path, "data.mdb"), "r");
  let branches = 0;
  const freePages = () => {
    const stats = root.getStats() as { lastPageNumber: number; lastTxnId: number; free: typeof tree };
    const tree = { treeBranchPageCount: 0, treeLeafPageCount: 0, overflowPages: 0 };
    const { lastTransaction, free } = readFreePages(file, 4096);
    expect(lastTransaction).toBe(stats.lastTxnId);
    const list = stats.free.treeBranchPageCount + stats.free.treeLeafPageCount + stats.free.overflowPages;
    const used = 2 + list + (bytesOnDisk(root) + bytesOnDisk(values)) / 4096;
    expect(free.reduce((sum, { pages }) => sum + pages, 0)).toBe(stats.lastPageNumber + 1 - used);
    branches = stats.free.treeBranchPageCount;
    return free.filter(({ freedBy }) => freedBy === lastTransaction).reduce((sum, { pages }) => sum + pages, 0);
  };
  // A list that fits the page of its key, one that needs overflow pages, and many lists, so that their tree has
  // branches.
  for (const count of [3, 3000, ...Array.from({ length: 400 }, () => 30)]) {
    const reader = root.useReadTransaction();
    await root.batch(() => {
      for (let i = 0; i < count; i += 1) void values.put(i, Buffer.alloc(3000));
    });
    await root.batch(() => {
      for (let i = 0; i < count; i += 1) void values.remove(i);
    });
    expect(freePages()).toBeGreaterThanOrEqual(count);
    if (count !== 30) reader.done();
  }
  expect(branches).toBeGreaterThan(0);
  closeSync(file);
  await root.close();
  await rm(path, { recursive: true });
});

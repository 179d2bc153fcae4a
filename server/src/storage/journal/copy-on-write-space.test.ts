import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openCopyOnWriteSpace } from "./copy-on-write-space.ts";
import { openDiskSpace } from "./disk-space.ts";
import { openDatabase } from "./journal-database.ts";
import { openChunkedValues } from "./chunked-values.ts";

const path = mkdtempSync(join(tmpdir(), "spanway-copied-"));
afterEach(async () => await rm(path, { recursive: true, force: true }));

const MiB = 1024 * 1024;

test("where a file system copies what it writes, little free space refuses growth, less reuse, and less still removals", async () => {
  let freeBytes = 1024 * MiB;
  const database = openDatabase(path, "msgpack", (root, at) =>
    openCopyOnWriteSpace(openDiskSpace(root, at), () => freeBytes),
  );
  const values = openChunkedValues(database, { firstChunks: "values", laterChunks: "value-pieces" });
  const value = Buffer.alloc(MiB, "x");
  const add = async (key: number): Promise<void> =>
    await database.add(value.length, (chunkBytes) => values.put(key, value, chunkBytes));
  const remove = async (key: number): Promise<void> => await database.remove(0, values.remove(key));
  const whole = () => Array.from(values.range(0), ({ key, value: stored }) => stored.equals(value) && key);
  for (let key = 1; key <= 8; key += 1) await add(key);

  freeBytes = 60 * MiB;
  await expect(add(9)).rejects.toThrow("The disk has no space");
  for (const key of [1, 2, 3, 4]) await remove(key);
  await add(10);
  freeBytes = 40 * MiB;
  await expect(add(11)).rejects.toThrow("The disk has no space");
  await remove(5);
  freeBytes = 30 * MiB;
  await expect(add(12)).rejects.toThrow("The disk has no space");
  await expect(remove(6)).rejects.toThrow("The disk has no space");
  expect(whole()).toEqual([6, 7, 8, 10]);
  freeBytes = 1024 * MiB;
  await remove(6);
  await add(13);
  expect(whole()).toEqual([7, 8, 10, 13]);
  await database.close();
});

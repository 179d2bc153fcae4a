import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storageLimits } from "../../limits.ts";
import { createInsertFile, type InsertFile } from "./insert-file.ts";

const folder = mkdtempSync(join(tmpdir(), "spanway-insert-"));
let file: InsertFile;
beforeAll(() => {
  file = createInsertFile(folder);
});
afterAll(async () => {
  await file.close();
  rmSync(folder, { recursive: true });
});

const bytesOf = (letter: string, extra = 0): Buffer => Buffer.alloc(storageLimits.insertFileBytes + extra, letter);
const textAt = (path: string | undefined): Promise<string | undefined> =>
  Promise.resolve(path && readFileSync(path, "utf8"));

test("lends an unnamed file with exactly the given bytes, and empties it afterwards", async () => {
  let lent: string | undefined;
  for (const bytes of [bytesOf("a", 1000), bytesOf("b"), bytesOf("c", 5)]) {
    const text = await file.lend(bytes, (path) => {
      expect(readdirSync(folder)).toEqual([]);
      lent = path;
      return textAt(path);
    });
    expect(text === bytes.toString()).toBe(true);
    expect(await textAt(lent)).toBe("");
  }
});

test("lends no file while the file is in use", async () => {
  const inner = await file.lend(bytesOf("d"), () => file.lend(bytesOf("e"), textAt));
  expect(inner).toBeUndefined();
});

test("lends the file again after a failure, and none if the folder does not exist", async () => {
  await expect(file.lend(bytesOf("f"), () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  expect(await file.lend(bytesOf("g"), textAt)).toHaveLength(storageLimits.insertFileBytes);
  const missing = createInsertFile(join(folder, "gone"));
  expect(await missing.lend(bytesOf("h"), textAt)).toBeUndefined();
  await missing.close();
});

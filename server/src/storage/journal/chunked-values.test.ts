import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openDatabase } from "./journal-database.ts";
import { openPendingLogRecords } from "./pending-log-records.ts";
import { openChunkedValues } from "./chunked-values.ts";

const path = mkdtempSync(join(tmpdir(), "spanway-values-"));
afterEach(async () => await rm(path, { recursive: true, force: true }));

test("an interrupted removal brings nothing back, and the next start removes the orphan chunks", async () => {
  const open = () => {
    const database = openDatabase(path);
    return { database, values: openChunkedValues(database, { firstChunks: "values", laterChunks: "value-pieces" }) };
  };
  const first = open();
  const value = Buffer.alloc(500_000, "abc");
  await first.database.add(value.byteLength, (chunkBytes) => {
    first.values.put(1, Buffer.from("short"), chunkBytes);
    first.values.put(2, value, chunkBytes);
  });
  const removal = first.values.remove(2)[Symbol.iterator]();
  await first.database.remove(
    0,
    [1].values().map(() => (removal.next(), 1)),
  );
  await first.database.close();

  const second = open();
  expect(second.values.get(2)).toBeUndefined();
  expect(second.values.lastKey()).toBe(2);
  await second.database.close();
  const third = open();
  expect(third.values.lastKey()).toBe(1);
  expect(third.values.get(1)?.toString()).toBe("short");
  expect(third.values.bytesOnDisk()).toBe(4096);
  await third.database.close();
});

test("log records of any length survive a reopen until they are removed, also those of earlier versions", async () => {
  const earlier = openDatabase(path, "json");
  const long = "\u00e9\u0000\n".repeat(50_000);
  await earlier.change(long.length * 6, () => {
    void earlier.root.put(1, { key: "a", text: long, atMs: 5 });
    void earlier.root.put("turn", 1);
  });
  await earlier.close();
  const open = () => openPendingLogRecords({ path, maxBytes: 1e9, partyOf: () => "", now: () => 10 });
  const events = open();
  await events.add([
    { key: "a", text: "later" },
    { key: "b", text: long },
  ]);
  await events.close();

  const reopened = open();
  expect(reopened.pending()).toEqual([
    { key: "a", sinceMs: 5 },
    { key: "b", sinceMs: 10 },
  ]);
  expect(reopened.textsOf("a")).toEqual([long, "later"]);
  expect(reopened.textsOf("b")).toEqual([long]);
  await reopened.remove("a", 1);
  await reopened.remove("b", 1);
  await reopened.close();
  const last = open();
  expect(last.stats()).toEqual({ spans: 1, bytes: 5, refused: 0 });
  await last.close();
});

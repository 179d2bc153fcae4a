import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { bytesOnDisk } from "./disk-space.ts";
import { openDatabase } from "./journal-database.ts";
import { openJournal, type Journal, type JournalOptions } from "./journal.ts";
import { openQuarantine } from "./quarantine.ts";

const folders: string[] = [];
const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "spanway-journal-"));
  folders.push(path);
  return path;
};
const journalAt = (path: string, options: Partial<JournalOptions> = {}): Journal =>
  openJournal({ path, maxBytes: 1e6, maxEntries: 100, identityMemoryMs: 1000, now: () => 10_000, ...options });

afterEach(async () => {
  await Promise.all(folders.splice(0).map((path) => rm(path, { recursive: true, force: true })));
});

const identity = (fill: number): Buffer => Buffer.alloc(16, fill);

test("returns entries in order after a reopen, until they are removed", async () => {
  const path = folder();
  const journal = journalAt(path);
  const entries = await Promise.all(
    ["a\n", "b\nb\n", "c\nc\nc\n"].map((text, i) =>
      journal.append({ payload: Buffer.from(text), rows: i + 1, identities: [] }),
    ),
  );
  await journal.remove([entries[1]!.seq]);
  await journal.close();

  const reopened = journalAt(path);
  const pending = reopened.pending(0, 10);
  expect(pending.map(({ rows, seq }) => [rows, reopened.read(seq)?.toString()])).toEqual([
    [1, "a\n"],
    [3, "c\nc\nc\n"],
  ]);
  expect(reopened.pending(pending[0]!.seq, 10)).toHaveLength(1);
  expect(reopened.stats()).toMatchObject({ entries: 2 });
  const next = await reopened.append({ payload: Buffer.from("d\n"), rows: 1, identities: [] });
  expect(next.seq).toBeGreaterThan(entries[2]!.seq);
  await reopened.close();
});

test("reports how long the oldest entry has waited, counted anew after a reopen", async () => {
  const path = folder();
  let nowMs = 10_000;
  const now = () => nowMs;
  const append = (to: Journal) => to.append({ payload: Buffer.from("a\n"), rows: 1, identities: [] });
  const journal = journalAt(path, { now });
  expect(journal.stats().oldestMs).toBe(0);
  const first = await append(journal);
  nowMs += 3_000;
  await append(journal);
  nowMs += 4_000;
  expect(journal.stats().oldestMs).toBe(7_000);
  await journal.remove([first.seq]);
  expect(journal.stats().oldestMs).toBe(4_000);
  await journal.close();

  const reopened = journalAt(path, { now });
  nowMs += 500;
  expect(reopened.stats().oldestMs).toBe(500);
  await reopened.close();
});

test.each([
  [false, 1000],
  [false, 1_000_000],
  [true, 1000],
  [true, 1_000_000],
])(
  "refuses entries at the byte bound, and accepts again once entries are removed (exempt from the share: %s, %i bytes)",
  async (isExemptFromShare, bytes) => {
    const journal = journalAt(folder(), { maxBytes: 1000 });
    const entry = { payload: Buffer.alloc(bytes, "x"), rows: 1, identities: [], isExemptFromShare };
    const first = await journal.append(entry);
    for (const payload of [entry.payload, Buffer.from("a\n")]) {
      await expect(journal.append({ ...entry, payload })).rejects.toMatchObject({
        code: "unavailable",
        retryAfterS: 5,
      });
    }
    expect(journal.hasCapacity()).toBe(false);
    await journal.remove([first.seq]);
    expect(journal.stats()).toMatchObject({ entries: 0, bytes: 0 });
    await expect(journal.append(entry)).resolves.toMatchObject({ rows: 1 });
    await journal.close();
  },
);

test("refuses entries over the bound of entries, however small they are", async () => {
  const journal = journalAt(folder(), { maxEntries: 5 });
  const append = () => journal.append({ payload: Buffer.from("a\n"), rows: 1, identities: [] });
  const first = await append();
  for (let entry = 0; entry < 3; entry += 1) await append();
  await expect(append()).rejects.toMatchObject({ code: "unavailable" });
  await journal.remove([first.seq]);
  await expect(append()).resolves.toMatchObject({ rows: 1 });
  await journal.close();
});

test.each([
  ["bytes", { maxBytes: 10_000, maxEntries: 1e6 }],
  ["entries", { maxBytes: 1e9, maxEntries: 100 }],
])(
  "one party that fills its %s leaves capacity for another party immediately, also after a restart",
  async (_, bounds) => {
    const path = folder();
    const options = { ...bounds, partyOf: (payload: Buffer) => payload.toString("utf8", 0, 1) };
    let journal = journalAt(path, options);
    const append = (party: string) =>
      journal.append({ payload: Buffer.from(party.repeat(100)), rows: 1, identities: [] });
    const fill = async (party: string): Promise<number> => {
      for (let entries = 0; ; entries += 1) {
        try {
          await append(party);
        } catch {
          return entries;
        }
      }
    };
    expect(await fill("a")).toBe(80);
    expect(await fill("b")).toBeGreaterThan(10);
    await append("c");
    // Work that was already done may use the capacity of all parties.
    const owe = () =>
      journal.append({ payload: Buffer.from("a".repeat(100)), rows: 1, identities: [], isExemptFromShare: true });
    while (journal.stats().entries < 100) await owe();
    await expect(owe()).rejects.toMatchObject({ code: "unavailable" });
    await journal.remove([journal.pending(0, 1)[0]!.seq]);
    await journal.close();
    journal = journalAt(path, options);
    await expect(append("a")).rejects.toMatchObject({ code: "unavailable" });
    await append("d");
    await journal.remove(journal.pending(0, 1_000).map(({ seq }) => seq));
    expect(await fill("a")).toBe(80);
    await journal.close();
  },
);

test("finds an identity before the commit, after it, and after a reopen", async () => {
  const path = folder();
  const journal = journalAt(path);
  const record = { timestampNs: -5n, version: (7n << 61n) | 123n, firstReceivedNs: 99n };
  const appended = journal.append({
    payload: Buffer.from("a\n"),
    rows: 1,
    identities: [{ identity: identity(1), ...record }],
  });
  expect(journal.lookup(identity(1))).toEqual(record);
  await appended;
  expect(journal.lookup(identity(1))).toEqual(record);
  expect(journal.lookup(identity(2))).toBeUndefined();
  await journal.close();
  const reopened = journalAt(path);
  expect(reopened.lookup(identity(1))).toEqual(record);
  await reopened.close();
});

test("remembers identities for one to two generations", async () => {
  let now = 10_000;
  const path = folder();
  const journal = journalAt(path, { now: () => now });
  const append = (fill: number) =>
    journal.append({
      payload: Buffer.from("a\n"),
      rows: 1,
      identities: [{ identity: identity(fill), timestampNs: 1n, version: 1n, firstReceivedNs: 1n }],
    });
  await append(1);
  now += 1000;
  await append(2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(journal.lookup(identity(1))).toBeDefined();
  now += 1000;
  await append(3);
  expect(journal.lookup(identity(1))).toBeUndefined();
  expect(journal.lookup(identity(2))).toBeDefined();
  await journal.close();
});

test("reports since when every identity is known: its creation, or all time if it is the first journal", async () => {
  const path = folder();
  const journal = journalAt(path);
  expect(journal.completeSinceMs()).toBe(10_000);
  await journal.close();
  const later = journalAt(path, { now: () => 10_900, isFirst: true });
  expect(later.completeSinceMs()).toBe(10_000);
  await later.close();
  const first = journalAt(folder(), { isFirst: true });
  expect(first.completeSinceMs()).toBe(0);
  await first.close();
});

test("evicting identities moves that time forward permanently, even if the clock is set back", async () => {
  let now = 10_000;
  const path = folder();
  const journal = journalAt(path, { now: () => now, isFirst: true });
  const append = (fill: number) =>
    journal.append({
      payload: Buffer.from("a\n"),
      rows: 1,
      identities: [{ identity: identity(fill), timestampNs: 1n, version: 1n, firstReceivedNs: 1n }],
    });
  await append(1);
  now = 11_000;
  await append(2);
  expect(journal.completeSinceMs()).toBe(10_000);
  now = 12_000;
  await append(3);
  expect(journal.completeSinceMs()).toBe(11_000);
  now = 900_000;
  await append(4);
  expect(journal.completeSinceMs()).toBe(13_000);
  now = 12_100;
  await append(5);
  expect(journal.completeSinceMs()).toBe(13_000);
  await journal.close();
  const reopened = journalAt(path, { now: () => now });
  expect(reopened.completeSinceMs()).toBe(13_000);
  await reopened.close();
});

test("a clock that is set back, by much or little, evicts nothing, with or without a restart", async () => {
  let now = 11_001;
  const path = folder();
  const journal = journalAt(path, { now: () => now, isFirst: true });
  const append = (to: Journal, fill: number, version: bigint) =>
    to.append({
      payload: Buffer.from("a\n"),
      rows: 1,
      identities: [{ identity: identity(fill), timestampNs: 1n, version, firstReceivedNs: 1n }],
    });
  await append(journal, 1, 1n);
  now = 12_001;
  await append(journal, 2, 1n);
  now = 11_999;
  await append(journal, 3, 1n);
  await append(journal, 2, 2n);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const versions = (of: Journal) => [1, 2, 3].map((fill) => of.lookup(identity(fill))?.version);
  expect(versions(journal)).toEqual([1n, 2n, 1n]);
  await journal.close();
  const reopened = journalAt(path, { now: () => now });
  expect(versions(reopened)).toEqual([1n, 2n, 1n]);
  now = 12_500;
  await append(reopened, 4, 1n);
  expect(versions(reopened)).toEqual([1n, 2n, 1n]);
  await reopened.close();
});

test("quarantines entries that the store refuses", async () => {
  const path = folder();
  const journal = journalAt(path);
  await journal.quarantine(Buffer.from("bad\n"), "reason");
  await journal.close();
  const reopened = journalAt(path);
  expect(reopened.stats()).toMatchObject({ entries: 0, quarantined: 1 });
  await reopened.close();
});

test("quarantined entries count against the byte bound, before and after a reopen, until they are dropped", async () => {
  const path = folder();
  const open = () => journalAt(path, { maxBytes: 60_000 });
  const append = (to: Journal) => to.append({ payload: Buffer.alloc(60_000, "x"), rows: 1, identities: [] });
  const journal = open();
  const entry = await append(journal);
  await journal.quarantine(journal.read(entry.seq)!, "r".repeat(1e6));
  await journal.remove([entry.seq]);
  await expect(append(journal)).rejects.toMatchObject({ code: "unavailable" });
  await journal.close();

  const reopened = open();
  expect(reopened.stats().quarantinedBytes).toBeLessThan(100_000);
  await expect(append(reopened)).rejects.toMatchObject({ code: "unavailable" });
  await reopened.close();

  const database = openDatabase(path);
  const quarantine = openQuarantine(database, Date.now);
  await quarantine.drop(Array.from(quarantine.entries(), ({ id }) => id));
  await database.close();
  const last = open();
  await expect(append(last)).resolves.toMatchObject({ rows: 1 });
  await last.close();
});

test("returns entries of any length unchanged, before and after a reopen, and removes them completely", async () => {
  const path = folder();
  const journal = journalAt(path, { maxBytes: 1e7 });
  const lengths = [1, 4071, 4072, 4073, 65_511, 65_512, 65_513, 131_024, 1_000_000];
  const payloads = lengths.map((length, i) => Buffer.alloc(length, `${i}abc\n`));
  const entries = await Promise.all(payloads.map((payload) => journal.append({ payload, rows: 1, identities: [] })));
  const isWhole = (from: Journal) => entries.every(({ seq }, i) => from.read(seq)?.equals(payloads[i]!));
  expect(isWhole(journal)).toBe(true);
  await journal.close();

  const reopened = journalAt(path, { maxBytes: 1e7 });
  expect(isWhole(reopened)).toBe(true);
  expect(reopened.stats().bytes).toBe(lengths.reduce((sum, length) => sum + length));
  await reopened.remove(entries.map(({ seq }) => seq));
  await reopened.close();
  const database = openDatabase(path);
  expect(bytesOnDisk(database.root.openDB({ name: "entry-pieces", encoding: "binary" }))).toBe(0);
  await database.close();
});

test("accepts many large entries at a time, however fast the file grows", async () => {
  const journal = journalAt(folder(), { maxBytes: 1e9 });
  const payload = Buffer.alloc(1_000_000, "x");
  const identities = Array.from({ length: 200 }, (_, i) => ({
    identity: identity(i),
    timestampNs: 1n,
    version: 1n,
    firstReceivedNs: 1n,
  }));
  for (let round = 0; round < 4; round += 1) {
    const entries = await Promise.all(
      Array.from({ length: 8 }, () => journal.append({ payload, rows: 1, identities })),
    );
    if (round % 2 === 1) await journal.remove(entries.map(({ seq }) => seq));
  }
  expect(journal.stats()).toMatchObject({ entries: 16, bytes: 16e6 });
  await journal.close();
});

test("settled waits for every append started before", async () => {
  const journal = journalAt(folder());
  const committed: number[] = [];
  for (let i = 1; i <= 3; i += 1) {
    void journal.append({ payload: Buffer.from("a\n"), rows: 1, identities: [] }).then(() => committed.push(i));
  }
  await journal.settled();
  await new Promise((resolve) => setImmediate(resolve));
  expect(committed).toEqual([1, 2, 3]);
  await journal.settled();
  await journal.close();
});

test("refuses a file that is not a journal database, with its path", () => {
  for (const bytes of [Buffer.alloc(100), Buffer.alloc(50_000, "x")]) {
    const path = folder();
    writeFileSync(join(path, "data.mdb"), bytes);
    expect(() => journalAt(path)).toThrow(join(path, "data.mdb"));
  }
});

import { mkdirSync } from "node:fs";
import { open } from "lmdb";
import { identitiesMissingUntil } from "./identity-memory.ts";
import { openDatabase } from "./journal-database.ts";
import { openLongValues } from "./long-values.ts";

/** Copies a database of LMDB as it is at one moment, also while another process writes it. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const root = open({ path: from, readOnly: true, maxDbs: 16, overlappingSync: false });
  try {
    await root.backup(to, false);
  } finally {
    await root.close();
  }
}

/**
 * Makes a copy of a journal one that belongs to a copy of the span store which was taken between an earlier copy of the journal and this
 * one. What was stored in between may be missing there: all that was not stored at the earlier moment waits in it again.
 */
export async function joinJournals(earlierPath: string, path: string, now: () => number): Promise<void> {
  const [earlier, later] = [openDatabase(earlierPath), openDatabase(path)];
  try {
    const stored = new Set(earlier.root.openDB<unknown, number>({ name: "kept", encoding: "json" }).getKeys());
    const entries = openLongValues(later, { firsts: "entries", others: "entry-pieces" });
    const kept = later.root.openDB<unknown, number>({ name: "kept", encoding: "json" });
    for (const { key, value } of openLongValues(earlier, { firsts: "entries", others: "entry-pieces" }).range(0)) {
      if (stored.has(key) || entries.get(key) !== undefined) continue;
      await later.add(value.byteLength, (pieceBytes) => entries.put(key, value, pieceBytes));
    }
    const again = [...kept.getKeys()].filter((key) => !stored.has(key));
    await later.add(0, () => {
      for (const key of again) void kept.remove(key);
    });
    await identitiesMissingUntil(later, now());
  } finally {
    await earlier.close();
    await later.close();
  }
}

/** Of a journal that nobody has open: its entries, stored ones that subscribers wait for included, and what they are to read back. */
export async function countLeft(path: string): Promise<{ entries: number; missed: number }> {
  const database = openDatabase(path);
  try {
    const entries = openLongValues(database, { firsts: "entries", others: "entry-pieces" }).count();
    return { entries, missed: database.root.openDB({ name: "missed", encoding: "json" }).getKeysCount() };
  } finally {
    await database.close();
  }
}

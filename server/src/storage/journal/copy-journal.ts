import { mkdirSync } from "node:fs";
import { open } from "lmdb";
import { identitiesMissingUntil } from "./identity-memory.ts";
import { openDatabase } from "./journal-database.ts";
import { openChunkedValues } from "./chunked-values.ts";

/** Copies an LMDB database as of one moment, even while another process writes it. */
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
 * Adapts a copy of a journal to a copy of the span store that was taken between an earlier copy of the journal and this
 * one. The span store's copy may lack rows that were stored in between, so every entry that was not stored at the
 * earlier moment becomes pending again.
 */
export async function joinJournals(earlierPath: string, path: string, now: () => number): Promise<void> {
  const [earlier, later] = [openDatabase(earlierPath), openDatabase(path)];
  try {
    const stored = new Set(earlier.root.openDB<unknown, number>({ name: "kept", encoding: "json" }).getKeys());
    const entries = openChunkedValues(later, { firstChunks: "entries", laterChunks: "entry-pieces" });
    const retained = later.root.openDB<unknown, number>({ name: "kept", encoding: "json" });
    for (const { key, value } of openChunkedValues(earlier, {
      firstChunks: "entries",
      laterChunks: "entry-pieces",
    }).range(0)) {
      if (stored.has(key) || entries.get(key) !== undefined) continue;
      await later.add(value.byteLength, (chunkBytes) => entries.put(key, value, chunkBytes));
    }
    const missing = [...retained.getKeys()].filter((key) => !stored.has(key));
    await later.add(0, () => {
      for (const key of missing) void retained.remove(key);
    });
    await identitiesMissingUntil(later, now());
  } finally {
    await earlier.close();
    await later.close();
  }
}

/**
 * Counts a journal that no process has open: entries (including stored ones that subscribers wait for), and time
 * ranges that subscribers are to read back.
 */
export async function countPending(path: string): Promise<{ entries: number; missed: number }> {
  const database = openDatabase(path);
  try {
    const entries = openChunkedValues(database, { firstChunks: "entries", laterChunks: "entry-pieces" }).count();
    return { entries, missed: database.root.openDB({ name: "missed", encoding: "json" }).getKeysCount() };
  } finally {
    await database.close();
  }
}

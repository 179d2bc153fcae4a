import { existsSync } from "node:fs";
import { ServiceError } from "../../domain/errors.ts";
import { storageLimits } from "../limits.ts";
import { openChunkedValues } from "./chunked-values.ts";
import { bytesToRemove } from "./disk-space.ts";
import { openDatabase, type JournalDatabase } from "./journal-database.ts";
import { lockStopped } from "./node-lock.ts";

/** Entries that the span store refuses. Each is retained with the time and the reason until an operator drops it. */
export type Quarantine = {
  add(payload: Buffer, reason: string): Promise<void>;
  /** Bytes on disk. */
  stats(): { entries: number; bytes: number };
  /** Oldest first, one at a time: an entry may have megabytes. */
  entries(): Iterable<QuarantinedEntry>;
  /** Drops entries by id. */
  drop(ids: readonly number[]): Promise<void>;
};

/** `payload` is NDJSON, each line with its line break; `at` is a time in ISO 8601. */
export type QuarantinedEntry = { id: number; at: string; reason: string; payload: Buffer };

export function openQuarantine(database: JournalDatabase, now: () => number): Quarantine {
  const stored = openChunkedValues(database, { firstChunks: "quarantine", laterChunks: "quarantine-pieces" });
  let bytes = stored.bytesOnDisk();
  let lastId = stored.lastKey();
  return {
    async add(payload, reason) {
      const header = {
        at: new Date(now()).toISOString(),
        reason: reason.slice(0, storageLimits.quarantineReasonChars),
      };
      const id = (lastId = Math.max(now(), lastId + 1));
      const entry = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), payload]);
      await database.add(entry.byteLength, (chunkBytes) => stored.put(id, entry, chunkBytes));
      bytes = stored.bytesOnDisk();
    },
    stats: () => ({ entries: stored.count(), bytes }),
    *entries() {
      for (const { key, value } of stored.range(0)) {
        const end = value.indexOf(0x0a);
        yield { id: key, ...asHeader(JSON.parse(value.toString("utf8", 0, end))), payload: value.subarray(end + 1) };
      }
    },
    async drop(ids) {
      const removals = function* (): Iterable<number> {
        for (const id of ids) yield* stored.remove(id);
      };
      await database.remove(bytesToRemove(ids.map((id) => stored.get(id)?.byteLength ?? 0)), removals());
      for (const id of ids) stored.release(id);
      bytes = stored.bytesOnDisk();
    },
  };
}

/** Safe because only `add` writes these. */
function asHeader(value: unknown): { at: string; reason: string } {
  return value as { at: string; reason: string };
}

/**
 * Locks the node's folder meanwhile. @throws ServiceError `conflict` while a server runs on it, `not_found` without a
 * journal
 */
export type WithQuarantine = <T>(use: (quarantine: Quarantine) => T | Promise<T>) => Promise<T>;

export function createWithQuarantine(folder: { dataDir: string; journalPath: string }): WithQuarantine {
  return async (use) => {
    // Opening would create a journal: at a mistyped path, owned by the user who runs the command.
    if (!existsSync(folder.journalPath)) {
      throw new ServiceError("not_found", `There is no journal at ${folder.journalPath}.`);
    }
    const lock = lockStopped(folder.dataDir);
    try {
      const database = openDatabase(folder.journalPath);
      try {
        return await use(openQuarantine(database, Date.now));
      } finally {
        await database.close();
      }
    } finally {
      lock.release();
    }
  };
}

import { limits } from "../../limits.ts";
import { bytesOnDisk } from "./database-pages.ts";
import type { JournalDatabase } from "./journal-database.ts";

/** Entries that no store takes. Each is kept with the time and the reason, until an operator drops it. */
export type Quarantine = {
  add(payload: Buffer, reason: string): Promise<void>;
  /** Bytes on disk. */
  stats(): { entries: number; bytes: number };
  /** The oldest first, one at a time: an entry may have megabytes. */
  entries(): Iterable<QuarantinedEntry>;
  /** Forgets entries by their id. */
  drop(ids: readonly number[]): Promise<void>;
};

/** `payload` is NDJSON, each line with its line break; `at` is a time in ISO 8601. */
export type QuarantinedEntry = { id: number; at: string; reason: string; payload: Buffer };

export function openQuarantine(database: JournalDatabase, now: () => number): Quarantine {
  const stored = database.root.openDB<Buffer, number>({ name: "quarantine", encoding: "binary" });
  let bytes = bytesOnDisk(stored);
  let [lastId = 0] = stored.getKeys({ reverse: true, limit: 1 });
  return {
    async add(payload, reason) {
      const note = { at: new Date(now()).toISOString(), reason: reason.slice(0, limits.quarantineReasonChars) };
      const id = (lastId = Math.max(now(), lastId + 1));
      const entry = Buffer.concat([Buffer.from(`${JSON.stringify(note)}\n`), payload]);
      await database.add(entry.byteLength, () => void stored.put(id, entry));
      bytes = bytesOnDisk(stored);
    },
    stats: () => ({ entries: stored.getKeysCount(), bytes }),
    *entries() {
      for (const { key, value } of stored.getRange()) {
        const end = value.indexOf(0x0a);
        yield { id: key, ...asNote(JSON.parse(value.toString("utf8", 0, end))), payload: value.subarray(end + 1) };
      }
    },
    async drop(ids) {
      await database.clear(() => {
        for (const id of ids) void stored.remove(id);
      });
      bytes = bytesOnDisk(stored);
    },
  };
}

/** Safe because nothing but `add` writes these. */
function asNote(value: unknown): { at: string; reason: string } {
  return value as { at: string; reason: string };
}

import type { RootDatabase } from "lmdb";
import { inOneTransaction } from "./journal-database.ts";

/** Entries that no store takes. Each is kept with the time and the reason, until an operator drops it. */
export type Quarantine = {
  add(payload: Buffer, reason: string): Promise<void>;
  count(): number;
  /** The oldest first, one at a time: an entry may have megabytes. */
  entries(): Iterable<QuarantinedEntry>;
  /** Forgets entries by their id. */
  drop(ids: readonly number[]): Promise<void>;
};

/** `payload` is NDJSON, each line with its line break; `at` is a time in ISO 8601. */
export type QuarantinedEntry = { id: number; at: string; reason: string; payload: Buffer };

export function openQuarantine(root: RootDatabase, now: () => number): Quarantine {
  const stored = root.openDB<Buffer, number>({ name: "quarantine", encoding: "binary" });
  let [lastId = 0] = stored.getKeys({ reverse: true, limit: 1 });
  return {
    async add(payload, reason) {
      const note = Buffer.from(`${JSON.stringify({ at: new Date(now()).toISOString(), reason })}\n`);
      const id = (lastId = Math.max(now(), lastId + 1));
      await inOneTransaction(root, () => void stored.put(id, Buffer.concat([note, payload])));
    },
    count: () => stored.getKeysCount(),
    *entries() {
      for (const { key, value } of stored.getRange()) {
        const end = value.indexOf(0x0a);
        yield { id: key, ...asNote(JSON.parse(value.toString("utf8", 0, end))), payload: value.subarray(end + 1) };
      }
    },
    async drop(ids) {
      await inOneTransaction(root, () => {
        for (const id of ids) void stored.remove(id);
      });
    },
  };
}

/** Safe because nothing but `add` writes these. */
function asNote(value: unknown): { at: string; reason: string } {
  return value as { at: string; reason: string };
}

import type { Database } from "lmdb";
import { bytesToRemove } from "./database-pages.ts";
import type { JournalDatabase } from "./journal-database.ts";
import { openLongValues } from "./long-values.ts";

/** `atMs` is the time of arrival, in ms since the epoch. */
export type LogRecord = { key: string; text: string; atMs: number };

/** Log records on disk by sequence number. */
export type LogRecords = {
  all(): { seq: number; record: LogRecord }[];
  lastSeq(): number;
  /** Adds all or none. @throws Error if the disk refuses */
  add(added: readonly { seq: number; record: LogRecord }[]): Promise<void>;
  remove(removed: readonly { seq: number; text: string }[]): Promise<void>;
};

export function openLogRecords(database: JournalDatabase): LogRecords {
  const values = openLongValues(database, { firsts: "records", others: "record-pieces" });
  // Earlier versions stored them in the root, where all other keys belong to LMDB.
  const root: Database<LogRecord> = database.root;
  const earlier = new Set([...root.getKeys()].filter((key) => typeof key === "number"));

  return {
    all() {
      const stored = Array.from(values.range(0), ({ key, value }) => ({ seq: key, record: asRecord(value) }));
      return [...Array.from(earlier, (seq) => ({ seq, record: root.get(seq) })).filter(isStored), ...stored];
    },
    lastSeq: () => Math.max(0, values.lastKey(), ...earlier),
    async add(added) {
      const written = added.map(({ seq, record }) => ({ seq, value: Buffer.from(JSON.stringify(record)) }));
      const bytes = written.reduce((sum, { value }) => sum + value.byteLength, 0);
      try {
        await database.add(bytes, (pieceBytes) => {
          for (const { seq, value } of written) values.put(seq, value, pieceBytes);
        });
      } catch (error) {
        for (const { seq } of written) values.forget(seq);
        throw error;
      }
    },
    async remove(removed) {
      const removals = function* (): Iterable<number> {
        for (const { seq } of removed) {
          if (earlier.has(seq)) void root.remove(seq);
          yield* values.remove(seq);
        }
      };
      await database.clear(bytesToRemove(removed.map(({ text }) => text.length * utf8BytesMax)), removals());
      for (const { seq } of removed) {
        values.forget(seq);
        earlier.delete(seq);
      }
    },
  };
}

const isStored = (entry: { seq: number; record: LogRecord | undefined }): entry is { seq: number; record: LogRecord } =>
  entry.record !== undefined;

/** Safe because only `add` writes these. */
function asRecord(value: Buffer): LogRecord {
  return JSON.parse(value.toString("utf8")) as LogRecord;
}

/** The most bytes of one character (UTF-16 code unit). */
const utf8BytesMax = 3;

import type { Database } from "lmdb";
import { bytesToRemove } from "./disk-space.ts";
import type { JournalDatabase } from "./journal-database.ts";
import { openChunkedValues } from "./chunked-values.ts";

/** `atMs` is the time of arrival, in ms since the epoch. */
export type LogRecord = { key: string; text: string; atMs: number };

/** Log records on disk by sequence number. */
export type LogRecordStore = {
  all(): { seq: number; record: LogRecord }[];
  lastSeq(): number;
  /** Adds all or none. @throws Error if the disk refuses */
  add(added: readonly { seq: number; record: LogRecord }[]): Promise<void>;
  remove(removed: readonly { seq: number; text: string }[]): Promise<void>;
};

export function openLogRecordStore(database: JournalDatabase): LogRecordStore {
  const values = openChunkedValues(database, { firstChunks: "records", laterChunks: "record-pieces" });
  // Earlier versions stored them in the root, where all other keys belong to LMDB.
  const root: Database<LogRecord> = database.root;
  const legacy = new Set([...root.getKeys()].filter((key) => typeof key === "number"));

  return {
    all() {
      const stored = Array.from(values.range(0), ({ key, value }) => ({ seq: key, record: asRecord(value) }));
      return [...Array.from(legacy, (seq) => ({ seq, record: root.get(seq) })).filter(isStored), ...stored];
    },
    lastSeq: () => Math.max(0, values.lastKey(), ...legacy),
    async add(added) {
      const written = added.map(({ seq, record }) => ({ seq, value: Buffer.from(JSON.stringify(record)) }));
      const bytes = written.reduce((sum, { value }) => sum + value.byteLength, 0);
      try {
        await database.add(bytes, (chunkBytes) => {
          for (const { seq, value } of written) values.put(seq, value, chunkBytes);
        });
      } catch (error) {
        for (const { seq } of written) values.release(seq);
        throw error;
      }
    },
    async remove(removed) {
      const removals = function* (): Iterable<number> {
        for (const { seq } of removed) {
          if (legacy.has(seq)) void root.remove(seq);
          yield* values.remove(seq);
        }
      };
      await database.remove(bytesToRemove(removed.map(({ text }) => text.length * utf8BytesMax)), removals());
      for (const { seq } of removed) {
        values.release(seq);
        legacy.delete(seq);
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

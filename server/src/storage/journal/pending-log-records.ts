import { ServiceError } from "../../domain/errors.ts";
import { FairShare, type SharedLimit } from "../../lib/fair-share.ts";
import { openDatabase, describeWriteError } from "./journal-database.ts";
import { openLogRecordStore, type LogRecord } from "./log-record-store.ts";

/**
 * Log records that wait for their span, on this node's disk. When `add` resolves they are committed and flushed. Their
 * content is opaque here: text per span, in order of arrival.
 */
export type PendingLogRecords = {
  /**
   * Adds all entries or none. They belong to one party.
   * @throws ServiceError `unavailable` if the byte bound or the party's share of it is used up, or the disk refuses
   */
  add(entries: readonly NewLogRecord[]): Promise<void>;
  /** The texts that wait for a span, committed or being committed. */
  textsOf(key: string): readonly string[];
  /** Whether anything waits at all: most exporters never send logs. */
  isEmpty(): boolean;
  /** Pending keys, longest pending first, with the time of their first record in ms since the epoch. */
  pending(): Array<{ key: string; sinceMs: number }>;
  /** Removes the first `count` texts of a key; more may have arrived since they were read. */
  remove(key: string, count: number): Promise<void>;
  /** What is pending, and the number of refused additions so far. */
  stats(): { spans: number; bytes: number; refused: number };
  /** The bytes of all parties. */
  limit: SharedLimit;
  close(): Promise<void>;
};

export type NewLogRecord = { key: string; text: string };

type PendingTexts = { sinceMs: number; texts: string[]; seqs: number[] };

export type PendingLogRecordsOptions = {
  path: string;
  /** Divided between parties (`FairShare`). */
  maxBytes: number;
  /** The party of a key. */
  partyOf: (key: string) => string;
  now: () => number;
};

export function openPendingLogRecords({ path, maxBytes, partyOf, now }: PendingLogRecordsOptions): PendingLogRecords {
  const database = openDatabase(path, "json");
  const records = openLogRecordStore(database);
  const pending = new Map<string, PendingTexts>();
  let nextSeq = records.lastSeq() + 1;
  const used = new FairShare(maxBytes);
  let refused = 0;
  const track = (seq: number, { key, text, atMs }: LogRecord): void => {
    const entry = pending.get(key) ?? { sinceMs: atMs, texts: [], seqs: [] };
    entry.texts.push(text);
    entry.seqs.push(seq);
    pending.set(key, entry);
  };
  for (const { seq, record } of records.all()) {
    track(seq, record);
    used.acquire(partyOf(record.key), record.text.length);
  }

  const release = (seq: number, { key, text }: LogRecord): void => {
    const entry = pending.get(key);
    const at = entry?.seqs.indexOf(seq) ?? -1;
    if (!entry || at === -1) return;
    entry.seqs.splice(at, 1);
    entry.texts.splice(at, 1);
    used.release(partyOf(key), text.length);
    if (entry.seqs.length === 0) pending.delete(key);
  };

  return {
    async add(entries) {
      const [first] = entries;
      if (first === undefined) return;
      const bytes = entries.reduce((sum, { text }) => sum + text.length, 0);
      if (!used.tryAcquire(partyOf(first.key), bytes)) {
        refused += 1;
        throw unavailable("Too many log records wait for their spans.");
      }
      const added = entries.map((entry) => {
        const record: LogRecord = { ...entry, atMs: now() };
        const seq = nextSeq;
        nextSeq += 1;
        track(seq, record);
        return { seq, record };
      });
      try {
        await records.add(added);
      } catch (error) {
        refused += 1;
        for (const { seq, record } of added) release(seq, record);
        throw unavailable(`Log records cannot be written: ${describeWriteError(error)}.`, error);
      }
    },
    textsOf: (key) => pending.get(key)?.texts ?? [],
    isEmpty: () => pending.size === 0,
    pending: () => Array.from(pending, ([key, { sinceMs }]) => ({ key, sinceMs })),
    async remove(key, count) {
      const entry = pending.get(key);
      if (!entry) return;
      const texts = entry.texts.splice(0, count);
      const removed = entry.seqs.splice(0, count).map((seq, i) => ({ seq, text: texts[i] ?? "" }));
      for (const { text } of removed) used.release(partyOf(key), text.length);
      if (entry.texts.length === 0) pending.delete(key);
      await records.remove(removed);
    },
    limit: used,
    stats: () => ({ spans: pending.size, bytes: used.inUse, refused }),
    close: () => database.close(),
  };
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", `${message} Try again later.`, { retryAfterS: 5, cause });
}

import { ServiceError } from "../../domain/errors.ts";
import { FairShare } from "../../lib/fair-share.ts";
import { openDatabase, whyUnwritten } from "./journal-database.ts";
import { openLogRecords, type LogRecord } from "./log-records.ts";

/**
 * Log records that wait for their span, on this node's disk. When `add` resolves they are committed and flushed. Their
 * content is opaque here: text per span, in order of arrival.
 */
export type LogEvents = {
  /**
   * Adds all entries or none. They belong to one party.
   * @throws ServiceError `unavailable` if the byte bound or the party's share of it is used up, or the disk refuses
   */
  add(entries: readonly LogEventEntry[]): Promise<void>;
  /** The texts that wait for a span, committed or being committed. */
  of(key: string): readonly string[];
  /** Whether anything waits at all: most exporters never send logs. */
  isEmpty(): boolean;
  /** Waiting keys, longest waiting first, with the time of their first record in ms since the epoch. */
  waiting(): Array<{ key: string; sinceMs: number }>;
  /** Removes the first `count` texts of a key; more may have arrived since they were read. */
  remove(key: string, count: number): Promise<void>;
  /** What waits, and the number of refused additions so far. */
  stats(): { spans: number; bytes: number; refused: number };
  close(): Promise<void>;
};

export type LogEventEntry = { key: string; text: string };

type Waiting = { sinceMs: number; texts: string[]; seqs: number[] };

export type LogEventsOptions = {
  path: string;
  /** Divided between parties (`FairShare`). */
  maxBytes: number;
  /** The party of a key. */
  partyOf: (key: string) => string;
  now: () => number;
};

export function openLogEvents({ path, maxBytes, partyOf, now }: LogEventsOptions): LogEvents {
  const database = openDatabase(path, "json");
  const records = openLogRecords(database);
  const waiting = new Map<string, Waiting>();
  let nextSeq = records.lastSeq() + 1;
  const held = new FairShare(maxBytes);
  let refused = 0;
  const hold = (seq: number, { key, text, atMs }: LogRecord): void => {
    const entry = waiting.get(key) ?? { sinceMs: atMs, texts: [], seqs: [] };
    entry.texts.push(text);
    entry.seqs.push(seq);
    waiting.set(key, entry);
  };
  for (const { seq, record } of records.all()) {
    hold(seq, record);
    held.acquire(partyOf(record.key), record.text.length);
  }

  const release = (seq: number, { key, text }: LogRecord): void => {
    const entry = waiting.get(key);
    const at = entry?.seqs.indexOf(seq) ?? -1;
    if (!entry || at === -1) return;
    entry.seqs.splice(at, 1);
    entry.texts.splice(at, 1);
    held.release(partyOf(key), text.length);
    if (entry.seqs.length === 0) waiting.delete(key);
  };

  return {
    async add(entries) {
      const [first] = entries;
      if (first === undefined) return;
      const bytes = entries.reduce((sum, { text }) => sum + text.length, 0);
      if (!held.tryAcquire(partyOf(first.key), bytes)) {
        refused += 1;
        throw unavailable("Too many log records wait for their spans.");
      }
      const added = entries.map((entry) => {
        const record: LogRecord = { ...entry, atMs: now() };
        const seq = nextSeq;
        nextSeq += 1;
        hold(seq, record);
        return { seq, record };
      });
      try {
        await records.add(added);
      } catch (error) {
        refused += 1;
        for (const { seq, record } of added) release(seq, record);
        throw unavailable(`Log records cannot be written: ${whyUnwritten(error)}.`, error);
      }
    },
    of: (key) => waiting.get(key)?.texts ?? [],
    isEmpty: () => waiting.size === 0,
    waiting: () => Array.from(waiting, ([key, { sinceMs }]) => ({ key, sinceMs })),
    async remove(key, count) {
      const entry = waiting.get(key);
      if (!entry) return;
      const texts = entry.texts.splice(0, count);
      const removed = entry.seqs.splice(0, count).map((seq, i) => ({ seq, text: texts[i] ?? "" }));
      for (const { text } of removed) held.release(partyOf(key), text.length);
      if (entry.texts.length === 0) waiting.delete(key);
      await records.remove(removed);
    },
    stats: () => ({ spans: waiting.size, bytes: held.inUse, refused }),
    close: () => database.close(),
  };
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", `${message} Try again later.`, { retryAfterS: 5, cause });
}

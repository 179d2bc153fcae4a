import type { Database } from "lmdb";
import { ServiceError } from "../../domain/errors.ts";
import { openDatabase } from "./journal-database.ts";

/**
 * Log records that wait for the span they belong to, on this node's disk. When `add` resolves they are committed and
 * flushed. What is kept of them is opaque here: text per span, in the order of arrival.
 */
export type LogEvents = {
  /** @throws ServiceError `unavailable` when the byte bound is reached or the disk refuses. */
  add(entries: readonly LogEventEntry[]): Promise<void>;
  /** The texts that wait for a span, committed or on their way. */
  of(key: string): readonly string[];
  /** Whether anything waits at all: most exporters never send logs. */
  isEmpty(): boolean;
  /** Keys that wait, the longest first, with the time of their first record in ms since the epoch. */
  waiting(): Array<{ key: string; sinceMs: number }>;
  /** Forgets the first `count` texts of a key; more may have arrived since they were read. */
  remove(key: string, count: number): Promise<void>;
  stats(): { spans: number; bytes: number };
  close(): Promise<void>;
};

export type LogEventEntry = { key: string; text: string };

type Waiting = { sinceMs: number; texts: string[]; seqs: number[] };
type Stored = { key: string; text: string; atMs: number };

export function openLogEvents({
  path,
  maxBytes,
  now,
}: {
  path: string;
  maxBytes: number;
  now: () => number;
}): LogEvents {
  const database = openDatabase(path, "json");
  const records: Database<Stored> = database.root;
  const waiting = new Map<string, Waiting>();
  let nextSeq = 1;
  let heldBytes = 0;
  const hold = (seq: number, { key, text, atMs }: Stored): void => {
    const entry = waiting.get(key) ?? { sinceMs: atMs, texts: [], seqs: [] };
    entry.texts.push(text);
    entry.seqs.push(seq);
    waiting.set(key, entry);
    heldBytes += text.length;
    nextSeq = Math.max(nextSeq, seq + 1);
  };
  // Other keys are the database's own.
  for (const { key, value } of records.getRange()) if (typeof key === "number") hold(key, value);

  const release = (seq: number, { key, text }: Stored): void => {
    const entry = waiting.get(key);
    const at = entry?.seqs.indexOf(seq) ?? -1;
    if (!entry || at === -1) return;
    entry.seqs.splice(at, 1);
    entry.texts.splice(at, 1);
    heldBytes -= text.length;
    if (entry.seqs.length === 0) waiting.delete(key);
  };

  return {
    async add(entries) {
      const bytes = entries.reduce((sum, { text }) => sum + text.length, 0);
      if (heldBytes + bytes > maxBytes) throw unavailable("Too many log records wait for their spans.");
      const added = entries.map((entry) => {
        const stored: Stored = { ...entry, atMs: now() };
        const seq = nextSeq;
        hold(seq, stored);
        return { seq, stored };
      });
      try {
        await database.add(bytes * utf8BytesMax, () => {
          for (const { seq, stored } of added) void records.put(seq, stored);
        });
      } catch (error) {
        for (const { seq, stored } of added) release(seq, stored);
        throw unavailable("Log records cannot be written.", error);
      }
    },
    of: (key) => waiting.get(key)?.texts ?? [],
    isEmpty: () => waiting.size === 0,
    waiting: () => Array.from(waiting, ([key, { sinceMs }]) => ({ key, sinceMs })),
    async remove(key, count) {
      const entry = waiting.get(key);
      if (!entry) return;
      const seqs = entry.seqs.splice(0, count);
      for (const text of entry.texts.splice(0, count)) heldBytes -= text.length;
      if (entry.texts.length === 0) waiting.delete(key);
      await database.clear(() => {
        for (const seq of seqs) void records.remove(seq);
      });
    },
    stats: () => ({ spans: waiting.size, bytes: heldBytes }),
    close: () => database.close(),
  };
}

/** Of one character of text, in JSON. */
const utf8BytesMax = 3;

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", `${message} Try again later.`, { retryAfterS: 5, cause });
}

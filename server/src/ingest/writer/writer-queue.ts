import { ingestLimits } from "../limits.ts";
import type { JournalEntry } from "../../storage/journal/journal.ts";

export type Queued = JournalEntry & { payload: Buffer | undefined; sinceMs: number };
export type Group = { entries: Queued[]; rows: number; bytes: number; hasResends: boolean };

export type WriterQueue = {
  push(entry: JournalEntry, payload: Buffer | undefined): void;
  /** Removes the oldest entries: at least one, and at most what fits one insert. */
  takeGroup(): Group;
  isGroupFull(): boolean;
  /** Number of entries. */
  size(): number;
  rows(): number;
  /** Age of the oldest entry in milliseconds; 0 if there is none. */
  waitedMs(): number;
};

/** First in, first out. While the store is down, the journal has all bytes and memory only a bounded part of them. */
export function createWriterQueue(maxRows: number): WriterQueue {
  const entries: Queued[] = [];
  let rows = 0;
  let bytes = 0;
  let bufferedBytes = 0;

  const fits = (group: Group, entry: Queued): boolean =>
    group.entries.length === 0 ||
    (group.rows + entry.rows <= maxRows && group.bytes + entry.bytes <= ingestLimits.writerGroupBytes);

  return {
    push(entry, payload) {
      const buffered =
        payload !== undefined && bufferedBytes + payload.byteLength <= ingestLimits.writerBufferedBytes
          ? payload
          : undefined;
      entries.push({ ...entry, payload: buffered, sinceMs: performance.now() });
      bufferedBytes += buffered?.byteLength ?? 0;
      rows += entry.rows;
      bytes += entry.bytes;
    },
    takeGroup() {
      const group: Group = { entries: [], rows: 0, bytes: 0, hasResends: false };
      for (const entry of entries) {
        if (!fits(group, entry)) break;
        group.entries.push(entry);
        group.rows += entry.rows;
        group.bytes += entry.bytes;
        group.hasResends ||= entry.hasResends;
        bufferedBytes -= entry.payload?.byteLength ?? 0;
      }
      entries.splice(0, group.entries.length);
      rows -= group.rows;
      bytes -= group.bytes;
      return group;
    },
    isGroupFull: () => rows >= maxRows || bytes >= ingestLimits.writerGroupBytes,
    size: () => entries.length,
    rows: () => rows,
    waitedMs: () => (entries[0] === undefined ? 0 : performance.now() - entries[0].sinceMs),
  };
}

import type { JournalDatabase } from "./journal-database.ts";

/** The bytes of accepted requests by their number. `put` and `remove` belong in a transaction. */
export type JournalEntries = {
  put(seq: number, payload: Buffer): void;
  get(seq: number): Buffer | undefined;
  remove(seq: number): void;
  /** In the order of acceptance, from `after` (exclusive). */
  range(after: number): Iterable<{ seq: number; payload: Buffer }>;
};

/**
 * LMDB wants pages in a row for one value. So long entries lie in pieces, the first under the number of the entry and others
 * where that one is whole; and in pieces of one page where the file cannot grow, as any page will do for those. Entries of
 * earlier versions lie in one piece of any length.
 */
export function openJournalEntries(database: JournalDatabase): JournalEntries {
  const firsts = database.root.openDB<Buffer, number>({ name: "entries", encoding: "binary" });
  const others = database.root.openDB<Buffer, [seq: number, index: number]>({
    name: "entry-pieces",
    encoding: "binary",
  });
  /** How many others there are of those that have any. */
  const counts = new Map<number, number>();

  const whole = (seq: number, first: Buffer): Buffer => {
    if (first.byteLength !== pieceBytes && first.byteLength !== pagePieceBytes) return first;
    const rest = Array.from(others.getRange({ start: [seq, 1], end: [seq, Infinity] }), ({ value }) => value);
    if (rest.length === 0) return first;
    counts.set(seq, rest.length);
    return Buffer.concat([first, ...rest]);
  };

  return {
    put(seq, payload) {
      const size = database.isExhausted() ? pagePieceBytes : pieceBytes;
      void firsts.put(seq, payload.subarray(0, size));
      const count = Math.ceil(payload.byteLength / size) - 1;
      if (count > 0) counts.set(seq, count);
      for (let i = 1; i <= count; i += 1) void others.put([seq, i], payload.subarray(i * size, (i + 1) * size));
    },
    get(seq) {
      const first = firsts.get(seq);
      return first && whole(seq, first);
    },
    remove(seq) {
      void firsts.remove(seq);
      for (let i = counts.get(seq) ?? 0; i > 0; i -= 1) void others.remove([seq, i]);
      counts.delete(seq);
    },
    *range(after) {
      for (const { key, value } of firsts.getRange({ start: after + 1 }))
        yield { seq: key, payload: whole(key, value) };
    },
  };
}

// The first of its pages begins with a header.
const pageBytes = 4096;
const pageHeaderBytes = 24;
const pagePieceBytes = pageBytes - pageHeaderBytes;
const pieceBytes = 16 * pageBytes - pageHeaderBytes;

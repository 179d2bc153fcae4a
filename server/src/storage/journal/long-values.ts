import type { Database } from "lmdb";
import { bytesOnDisk, bytesToRemove, pageBytes } from "./database-pages.ts";
import type { JournalDatabase } from "./journal-database.ts";

/** Values of any length by number. Call `put` and `remove` in a transaction. */
export type LongValues = {
  put(key: number, value: Buffer, pieceBytes: number): void;
  get(key: number): Buffer | undefined;
  /**
   * Removes a value that this process wrote or read, step by step: yields the pages that each step frees. The value is
   * gone after the first step; the next start removes pieces that a crash left. Call `forget` once everything is
   * committed.
   */
  remove(key: number): Iterable<number>;
  forget(key: number): void;
  /** In order of number, from `after` (exclusive). */
  range(after: number): Iterable<{ key: number; value: Buffer }>;
  count(): number;
  bytesOnDisk(): number;
  /** The highest number of any value or leftover piece; 0 if there is none. */
  lastKey(): number;
};

/**
 * LMDB stores one value in contiguous pages. So long values are split into pieces: the first under the number of the
 * value, the others in a second database. Values of earlier versions are one piece of any length.
 */
export function openLongValues(database: JournalDatabase, names: { firsts: string; others: string }): LongValues {
  const firsts = database.root.openDB<Buffer, number>({ name: names.firsts, encoding: "binary" });
  const others = database.root.openDB<Buffer, [key: number, index: number]>({ name: names.others, encoding: "binary" });
  /** Of values with other pieces: the number of those, and the pages of each. */
  const rests = new Map<number, { count: number; pages: number }>();
  const hold = (key: number, count: number, pieceBytes: number): void => {
    if (count > 0) rests.set(key, { count, pages: Math.ceil(pieceBytes / pageBytes) });
  };

  const whole = (key: number, first: Buffer): Buffer => {
    if (first.byteLength !== longPieceBytes && first.byteLength !== pagePieceBytes) return first;
    const rest = Array.from(others.getRange({ start: [key, 1], end: [key, Infinity] }), ({ value }) => value);
    hold(key, rest.length, first.byteLength);
    return rest.length === 0 ? first : Buffer.concat([first, ...rest]);
  };
  removeLostPieces(database, firsts, others);

  return {
    put(key, value, pieceBytes) {
      void firsts.put(key, value.subarray(0, pieceBytes));
      const count = Math.ceil(value.byteLength / pieceBytes) - 1;
      hold(key, count, pieceBytes);
      for (let i = 1; i <= count; i += 1) {
        void others.put([key, i], value.subarray(i * pieceBytes, (i + 1) * pieceBytes));
      }
    },
    get(key) {
      const first = firsts.get(key);
      return first && whole(key, first);
    },
    *remove(key) {
      void firsts.remove(key);
      yield firstPages;
      const rest = rests.get(key);
      for (let i = rest?.count ?? 0; i > 0; i -= 1) {
        void others.remove([key, i]);
        yield rest?.pages ?? 1;
      }
    },
    forget: (key) => void rests.delete(key),
    *range(after) {
      for (const { key, value } of firsts.getRange({ start: after + 1 })) yield { key, value: whole(key, value) };
    },
    count: () => firsts.getKeysCount(),
    bytesOnDisk: () => bytesOnDisk(firsts) + bytesOnDisk(others),
    lastKey() {
      const [first = 0] = firsts.getKeys({ reverse: true, limit: 1 });
      const [[other] = [0]] = others.getKeys({ reverse: true, limit: 1 });
      return Math.max(first, other);
    },
  };
}

/** Removes pieces whose first piece is gone. */
function removeLostPieces(
  database: JournalDatabase,
  firsts: Database<Buffer, number>,
  others: Database<Buffer, [key: number, index: number]>,
): void {
  const lost: [key: number, index: number][] = [];
  let isLost = false;
  let last: number | undefined;
  for (const [key, index] of others.getKeys()) {
    if (key !== last) isLost = !firsts.doesExist(key);
    last = key;
    if (isLost) lost.push([key, index]);
  }
  if (lost.length === 0) return;
  const removals = function* (): Iterable<number> {
    for (const key of lost) {
      void others.remove(key);
      yield longPieceBytes / pageBytes;
    }
  };
  // If the disk refuses, the next start tries again.
  database.clear(bytesToRemove(lost.map(() => longPieceBytes)), removals()).catch(() => undefined);
}

// The first page of a value begins with a header.
const pageHeaderBytes = 24;
/** A piece of this length fits any free page. */
export const pagePieceBytes = pageBytes - pageHeaderBytes;
export const longPieceBytes = 16 * pageBytes - pageHeaderBytes;
/** Its own page, and those that it may share with other values. */
const firstPages = 4;

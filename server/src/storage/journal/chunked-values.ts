import type { Database } from "lmdb";
import { bytesOnDisk, bytesToRemove, pageBytes } from "./disk-space.ts";
import type { JournalDatabase } from "./journal-database.ts";

/** Values of any length by number. Call `put` and `remove` in a transaction. */
export type ChunkedValues = {
  put(key: number, value: Buffer, chunkBytes: number): void;
  get(key: number): Buffer | undefined;
  /**
   * Removes a value that this process wrote or read, step by step: yields the pages that each step frees. The value
   * cannot be read after the first step; the next start removes chunks that a crash left. Call `release` once everything
   * is committed.
   */
  remove(key: number): Iterable<number>;
  release(key: number): void;
  /** In order of number, from `after` (exclusive). */
  range(after: number): Iterable<{ key: number; value: Buffer }>;
  count(): number;
  bytesOnDisk(): number;
  /** Returns the highest number of a value or an orphan chunk, or 0 if the database is empty. */
  lastKey(): number;
};

/**
 * LMDB stores one value in contiguous pages. So long values are split into chunks: the first under the number of the
 * value, the others in a second database. Values of earlier versions are one chunk of any length.
 */
export function openChunkedValues(
  database: JournalDatabase,
  names: { firstChunks: string; laterChunks: string },
): ChunkedValues {
  const firstChunks = database.root.openDB<Buffer, number>({ name: names.firstChunks, encoding: "binary" });
  const laterChunks = database.root.openDB<Buffer, [key: number, index: number]>({
    name: names.laterChunks,
    encoding: "binary",
  });
  /** Of values with later chunks: the number of those, and the pages of each. */
  const laterCounts = new Map<number, { count: number; pages: number }>();
  const track = (key: number, count: number, chunkBytes: number): void => {
    if (count > 0) laterCounts.set(key, { count, pages: Math.ceil(chunkBytes / pageBytes) });
  };

  const assemble = (key: number, first: Buffer): Buffer => {
    if (first.byteLength !== longChunkBytes && first.byteLength !== pageChunkBytes) return first;
    const later = Array.from(laterChunks.getRange({ start: [key, 1], end: [key, Infinity] }), ({ value }) => value);
    track(key, later.length, first.byteLength);
    return later.length === 0 ? first : Buffer.concat([first, ...later]);
  };
  removeOrphanChunks(database, firstChunks, laterChunks);

  return {
    put(key, value, chunkBytes) {
      void firstChunks.put(key, value.subarray(0, chunkBytes));
      const count = Math.ceil(value.byteLength / chunkBytes) - 1;
      track(key, count, chunkBytes);
      for (let i = 1; i <= count; i += 1) {
        void laterChunks.put([key, i], value.subarray(i * chunkBytes, (i + 1) * chunkBytes));
      }
    },
    get(key) {
      const first = firstChunks.get(key);
      return first && assemble(key, first);
    },
    *remove(key) {
      void firstChunks.remove(key);
      yield firstPages;
      const later = laterCounts.get(key);
      for (let i = later?.count ?? 0; i > 0; i -= 1) {
        void laterChunks.remove([key, i]);
        yield later?.pages ?? 1;
      }
    },
    release: (key) => void laterCounts.delete(key),
    *range(after) {
      for (const { key, value } of firstChunks.getRange({ start: after + 1 }))
        yield { key, value: assemble(key, value) };
    },
    count: () => firstChunks.getKeysCount(),
    bytesOnDisk: () => bytesOnDisk(firstChunks) + bytesOnDisk(laterChunks),
    lastKey() {
      const [first = 0] = firstChunks.getKeys({ reverse: true, limit: 1 });
      const [[other] = [0]] = laterChunks.getKeys({ reverse: true, limit: 1 });
      return Math.max(first, other);
    },
  };
}

/** Removes chunks whose first chunk was removed. */
function removeOrphanChunks(
  database: JournalDatabase,
  firstChunks: Database<Buffer, number>,
  laterChunks: Database<Buffer, [key: number, index: number]>,
): void {
  const orphans: [key: number, index: number][] = [];
  let isOrphan = false;
  let last: number | undefined;
  for (const [key, index] of laterChunks.getKeys()) {
    if (key !== last) isOrphan = !firstChunks.doesExist(key);
    last = key;
    if (isOrphan) orphans.push([key, index]);
  }
  if (orphans.length === 0) return;
  const removals = function* (): Iterable<number> {
    for (const key of orphans) {
      void laterChunks.remove(key);
      yield longChunkBytes / pageBytes;
    }
  };
  // If the disk refuses, the next start tries again.
  database.remove(bytesToRemove(orphans.map(() => longChunkBytes)), removals()).catch(() => undefined);
}

// The first page of a value begins with a header.
const pageHeaderBytes = 24;
/** A chunk of this length fits any free page. */
export const pageChunkBytes = pageBytes - pageHeaderBytes;
export const longChunkBytes = 16 * pageBytes - pageHeaderBytes;
/** A first chunk takes one page of its own, and may share up to three with other values. */
const firstPages = 4;

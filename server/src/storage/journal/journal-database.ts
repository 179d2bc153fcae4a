import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { copiesOnWrite, freeBytesOf, openCopiedRoom } from "./copied-room.ts";
import { openDiskRoom, type DiskRoom } from "./disk-room.ts";
import { longPieceBytes, pagePieceBytes } from "./long-values.ts";
import { createScarcePages } from "./scarce-pages.ts";
import { createTurns } from "./turns.ts";

const lmdbMagic = 0xbeefc0de;
const lmdbMagicOffset = 24;
const lmdbBytesMin = 2 * 4096;

/** Why a write failed, as text for the caller. */
export function whyUnwritten(error: unknown): string {
  return error instanceof NoRoom ? "the disk is full" : "the disk or the file refuses it";
}

class NoRoom extends Error {}

/** An LMDB file that refuses new data when the disk is full, before LMDB meets the full disk itself (disk-room.ts). */
export type JournalDatabase = {
  root: RootDatabase;
  /**
   * Resolves once everything that `put` writes is committed and flushed, all or nothing; `bytes` is its size. No value
   * may be longer than `pieceBytes`, which is one page if the file cannot grow, as any free page fits that.
   * @throws Error if the disk has no room for it, or refuses it
   */
  add(bytes: number, put: (pieceBytes: number) => void): Promise<void>;
  /**
   * The same for removals, which make room. If the file cannot grow, this takes several transactions, each of which
   * stops once the pages that `removals` yields reach a bound. `bytes` is the size of the writes if the file can grow
   * (see `bytesToRemove`).
   */
  clear(bytes: number, removals: Iterable<number>): Promise<void>;
  /** The same in one transaction that needs contiguous pages. @throws Error if the file cannot grow */
  change(bytes: number, write: () => void): Promise<void>;
  /** Whether the disk lets the file grow. */
  canGrow(): boolean;
  close(): Promise<void>;
};

/** @throws Error that names the path */
export function openDatabase(
  path: string,
  encoding: "msgpack" | "json" = "msgpack",
  openRoom: (root: RootDatabase, path: string) => DiskRoom = openRoomFor,
): JournalDatabase {
  refuseForeignFile(join(path, "data.mdb"));
  const root = openRoot(path, encoding);
  const room = openRoom(root, path);
  const turns = createTurns();
  const commit = (write: () => void): Promise<void> => inOneTransaction(root, write);
  const scarce = createScarcePages(root, room, commit);
  const noRoom = (bytes: number): Error => new NoRoom(`The disk has no room for ${bytes} bytes more in ${path}.`);

  const atTheEnd = async (bytes: number, write: () => void): Promise<void> => {
    scarce.forget();
    try {
      await commit(write);
    } finally {
      room.done(bytes);
    }
  };
  /** The pages that a transaction frees are written as a list, which should fit one page. */
  const removeInSteps = async (bytes: number, removals: Iterator<number>): Promise<void> => {
    for (let isDone = false; !isDone;) {
      if (!(await scarce.takeToRemove(stepPages))) throw noRoom(bytes);
      await commit(() => void (isDone = removeSome(removals, freedInStepMax)));
    }
  };
  /** Concurrent if the end of the file has room, else exclusive; by the time that it runs, there may be room again. */
  const write = (bytes: number, onGrowing: () => void, onFull: () => Promise<void>): Promise<void> => {
    if (turns.isOpen() && room.take(bytes)) return turns.beside(() => atTheEnd(bytes, onGrowing));
    return turns.alone(() => (room.take(bytes) ? atTheEnd(bytes, onGrowing) : onFull()));
  };
  const canGrow = (): boolean => {
    const isTaken = room.take(0);
    if (isTaken) room.done(0);
    return isTaken;
  };
  if (!canGrow() && room.endPages() + room.freePages().now < pagesToOpen) {
    room.close();
    void root.close();
    throw new Error(`The disk has no room for the journal ${path}.`);
  }

  return {
    root,
    add: (bytes, put) =>
      write(
        bytes,
        () => put(longPieceBytes),
        async () => {
          if (!(await scarce.take(room.pagesFor(bytes)))) throw noRoom(bytes);
          await commit(() => put(pagePieceBytes));
        },
      ),
    clear(bytes, removals) {
      const iterator = removals[Symbol.iterator]();
      return write(
        bytes,
        () => void removeSome(iterator, Infinity),
        () => removeInSteps(bytes, iterator),
      );
    },
    change: (bytes, change) => write(bytes, change, () => Promise.reject(noRoom(bytes))),
    canGrow,
    async close() {
      room.close();
      await root.flushed;
      await root.close();
    },
  };
}

function openRoomFor(root: RootDatabase, path: string): DiskRoom {
  const room = openDiskRoom(root, path);
  return copiesOnWrite(path) ? openCopiedRoom(room, () => freeBytesOf(path)) : room;
}

/** Removes until `pagesMax` pages are freed. Whether everything was removed. */
function removeSome(removals: Iterator<number>, pagesMax: number): boolean {
  for (let pages = 0; pages < pagesMax;) {
    const removed = removals.next();
    if (removed.done === true) return true;
    pages += removed.value;
  }
  return false;
}

/** An upper bound for creating the databases, which happens before anything is added. */
const pagesToOpen = 32;
const freedInStepMax = 256;
/** An upper bound for one step: copies of the pages that lead to what it removes. */
const stepPages = 96;

function openRoot(path: string, encoding: "msgpack" | "json"): RootDatabase {
  try {
    return open({
      path,
      encoding,
      maxDbs: 16,
      // Without overlapping, the promise of a put resolves after the flush, as the journal promises.
      overlappingSync: false,
      // The transaction that the library starts by itself has a promise that cannot be caught: a full disk would end
      // the process.
      eventTurnBatching: false,
      compression: false,
    });
  } catch (cause) {
    throw new Error(`The journal ${path} cannot be opened.`, { cause });
  }
}

async function inOneTransaction(root: RootDatabase, write: () => void): Promise<void> {
  try {
    await root.batch(write);
  } catch (error) {
    // The library gives the reason as a promise, which rejects too.
    const { commitError } = error as { commitError?: Promise<unknown> };
    commitError?.catch(() => undefined);
    throw error;
  }
}

/** The library crashes the process on a foreign or truncated file. */
function refuseForeignFile(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || file.size === 0) return;
  const head = Buffer.alloc(lmdbMagicOffset + 4);
  const descriptor = openSync(path, "r");
  readSync(descriptor, head);
  closeSync(descriptor);
  if (file.size < lmdbBytesMin || head.readUInt32LE(lmdbMagicOffset) !== lmdbMagic) {
    throw new Error(
      `The journal ${path} is damaged. Move it away to start with an empty one; the spans in it are not in the span store.`,
    );
  }
}

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { openDiskRoom } from "./disk-room.ts";
import { longPieceBytes, pagePieceBytes } from "./long-values.ts";
import { createScarcePages } from "./scarce-pages.ts";
import { createTurns } from "./turns.ts";

const lmdbMagic = 0xbeefc0de;
const lmdbMagicOffset = 24;
const lmdbBytesMin = 2 * 4096;

/** What a write failed for, to be told to whoever asked for it. */
export function whyUnwritten(error: unknown): string {
  return error instanceof NoRoom ? "the disk is full" : "the disk or the file refuses it";
}

class NoRoom extends Error {}

/** A file of LMDB that meets a full disk by refusing what is new: LMDB itself never does (disk-room.ts). */
export type JournalDatabase = {
  root: RootDatabase;
  /**
   * Resolves once what `put` puts is committed and flushed, all of it or nothing; `bytes` says how much that is. No value may
   * be longer than `pieceBytes`: one page where the file cannot grow, as any page will do for that.
   * @throws Error when the disk has no room for it, or refuses
   */
  add(bytes: number, put: (pieceBytes: number) => void): Promise<void>;
  /**
   * The same for what makes room. Where the file cannot grow it takes several transactions, each of which goes on until the
   * pages that `removals` gives add up to a bound; `bytes` says how much is written otherwise (see `bytesToRemove`).
   */
  clear(bytes: number, removals: Iterable<number>): Promise<void>;
  /** The same in one transaction that needs pages in a row. @throws Error where the file cannot grow */
  change(bytes: number, write: () => void): Promise<void>;
  /** Whether the disk lets the file grow. */
  canGrow(): boolean;
  close(): Promise<void>;
};

/** @throws Error that names the path */
export function openDatabase(path: string, encoding: "msgpack" | "json" = "msgpack"): JournalDatabase {
  refuseForeignFile(join(path, "data.mdb"));
  const root = openRoot(path, encoding);
  const room = openDiskRoom(root, path);
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
  /** What is freed in a transaction is written as a list, which should fit one page. */
  const removeInSteps = async (bytes: number, removals: Iterator<number>): Promise<void> => {
    for (let isDone = false; !isDone;) {
      if (!(await scarce.takeToRemove(stepPages))) throw noRoom(bytes);
      await commit(() => void (isDone = removeSome(removals, freedInStepMax)));
    }
  };
  /** Side by side where the end of the file has room, else alone; by then it may have room again. */
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

/** Whether all of it was removed. */
function removeSome(removals: Iterator<number>, pagesMax: number): boolean {
  for (let pages = 0; pages < pagesMax;) {
    const removed = removals.next();
    if (removed.done === true) return true;
    pages += removed.value;
  }
  return false;
}

/** More than it takes to make the databases, which is done before anything is added. */
const pagesToOpen = 32;
const freedInStepMax = 256;
/** More than a step takes: copies of the pages that lead to what it removes. */
const stepPages = 96;

function openRoot(path: string, encoding: "msgpack" | "json"): RootDatabase {
  try {
    return open({
      path,
      encoding,
      maxDbs: 16,
      // Without overlapping, the promise of a put resolves after the flush: that is the journal's promise too.
      overlappingSync: false,
      // The transaction that it begins by itself has a promise that nobody can catch: a full disk would end the process.
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
    // The library gives the reason as a promise that fails in its turn.
    const { commitError } = error as { commitError?: Promise<unknown> };
    commitError?.catch(() => undefined);
    throw error;
  }
}

/** The library crashes the process on a file that is not its own, or that was cut off. */
function refuseForeignFile(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || file.size === 0) return;
  const head = Buffer.alloc(lmdbMagicOffset + 4);
  const descriptor = openSync(path, "r");
  readSync(descriptor, head);
  closeSync(descriptor);
  if (file.size < lmdbBytesMin || head.readUInt32LE(lmdbMagicOffset) !== lmdbMagic) {
    throw new Error(
      `The journal ${path} is damaged. Set it aside to start with an empty one; what it holds is not stored.`,
    );
  }
}

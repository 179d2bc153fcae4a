import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { storageLimits } from "../limits.ts";
import { longChunkBytes, pageChunkBytes } from "./chunked-values.ts";
import { copiesOnWrite, freeBytesOf, openCopyOnWriteSpace } from "./copy-on-write-space.ts";
import { openDiskSpace, pageBytes, type DiskSpace } from "./disk-space.ts";

const lmdbMagic = 0xbeefc0de;
const lmdbMagicOffset = 24;
const lmdbBytesMin = 2 * 4096;

/** Why a write failed, as text for the caller. */
export function describeWriteError(error: unknown): string {
  return error instanceof DiskFull ? "the disk is full" : "the disk or the file refuses it";
}

class DiskFull extends Error {}

/** An LMDB file that refuses new data when the disk is full, before LMDB meets the full disk itself (disk-space.ts). */
export type JournalDatabase = {
  root: RootDatabase;
  /**
   * Resolves once everything that `put` writes is committed and flushed, all or nothing; `bytes` is its size. No value
   * may be longer than `chunkBytes`, which is one page if the file cannot grow, as any free page fits that.
   * @throws Error if the disk has no space for it, or refuses it
   */
  add(bytes: number, put: (chunkBytes: number) => void): Promise<void>;
  /**
   * The same for removals, which free space. If the file cannot grow, this takes several transactions, each of which
   * stops once the pages that `removals` yields reach a bound. `bytes` is the size of the writes if the file can grow
   * (see `bytesToRemove`).
   */
  remove(bytes: number, removals: Iterable<number>): Promise<void>;
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
  openSpace: (root: RootDatabase, path: string) => DiskSpace = openSpaceFor,
): JournalDatabase {
  refuseForeignFile(join(path, "data.mdb"));
  const root = openRoot(path, encoding);
  const space = openSpace(root, path);
  const lock = createSharedExclusiveLock();
  const commit = (write: () => void): Promise<void> => inOneTransaction(root, write);
  const reusable = createReusablePages(root, space, commit);
  const diskFull = (bytes: number): Error => new DiskFull(`The disk has no space for ${bytes} bytes more in ${path}.`);

  const writeAtTail = async (bytes: number, write: () => void): Promise<void> => {
    reusable.invalidate();
    try {
      await commit(write);
    } finally {
      space.release(bytes);
    }
  };
  /** The pages that a transaction frees are written as a list, which should fit one page. */
  const removeInSteps = async (bytes: number, removals: Iterator<number>): Promise<void> => {
    for (let isDone = false; !isDone;) {
      if (!(await reusable.reserveForRemoval(stepPages))) throw diskFull(bytes);
      await commit(() => void (isDone = removeSome(removals, freedInStepMax)));
    }
  };
  /** Concurrent if the end of the file has space, else exclusive; by the time that it runs, there may be space again. */
  const write = (bytes: number, onGrowing: () => void, onFull: () => Promise<void>): Promise<void> => {
    if (lock.canShare() && space.reserve(bytes)) return lock.runShared(() => writeAtTail(bytes, onGrowing));
    return lock.runExclusive(() => (space.reserve(bytes) ? writeAtTail(bytes, onGrowing) : onFull()));
  };
  const canGrow = (): boolean => {
    const isReserved = space.reserve(0);
    if (isReserved) space.release(0);
    return isReserved;
  };
  if (!canGrow() && space.tailPages() + space.freePages().now < pagesToOpen) {
    space.close();
    void root.close();
    throw new Error(`The disk has no space for the journal ${path}.`);
  }

  return {
    root,
    add: (bytes, put) =>
      write(
        bytes,
        () => put(longChunkBytes),
        async () => {
          if (!(await reusable.reserve(space.pagesFor(bytes)))) throw diskFull(bytes);
          await commit(() => put(pageChunkBytes));
        },
      ),
    remove(bytes, removals) {
      const iterator = removals[Symbol.iterator]();
      return write(
        bytes,
        () => void removeSome(iterator, Infinity),
        () => removeInSteps(bytes, iterator),
      );
    },
    change: (bytes, change) => write(bytes, change, () => Promise.reject(diskFull(bytes))),
    canGrow,
    async close() {
      space.close();
      await root.flushed;
      await root.close();
    },
  };
}

function openSpaceFor(root: RootDatabase, path: string): DiskSpace {
  const space = openDiskSpace(root, path);
  return copiesOnWrite(path) ? openCopyOnWriteSpace(space, () => freeBytesOf(path)) : space;
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

/** Runs work concurrently until some of it needs exclusive access: later work then waits. */
type SharedExclusiveLock = {
  /** Whether no exclusive work runs or waits. */
  canShare(): boolean;
  /** Runs concurrent work. Call it only while `canShare`. */
  runShared(work: () => Promise<void>): Promise<void>;
  /** Runs exclusive work, one after another, once everything started before has ended. */
  runExclusive(work: () => Promise<void>): Promise<void>;
};

function createSharedExclusiveLock(): SharedExclusiveLock {
  const running = new Set<Promise<void>>();
  let last: Promise<void> | undefined;
  return {
    canShare: () => last === undefined,
    async runShared(work) {
      const started = work();
      running.add(started);
      try {
        await started;
      } finally {
        running.delete(started);
      }
    },
    async runExclusive(work) {
      const before = last === undefined ? [...running] : [last];
      const own = Promise.allSettled(before).then(work);
      last = own;
      try {
        await own;
      } finally {
        if (last === own) last = undefined;
      }
    },
  };
}

/**
 * Scattered free pages in a file that cannot grow, for exclusive transactions that need single pages: LMDB uses each of
 * these before it extends the used part, while contiguous free pages may not exist.
 */
type ReusablePages = {
  /**
   * Whether this many pages are free in addition to the reserve for removals, which free space. If true, they count as
   * used.
   */
  reserve(pages: number): Promise<boolean>;
  /** For a removal: may also use the reserve, and in the end the space after the last used page. */
  reserveForRemoval(pages: number): Promise<boolean>;
  /** Call it after concurrent transactions, which use free pages too. */
  invalidate(): void;
};

function createReusablePages(
  root: RootDatabase,
  space: DiskSpace,
  commit: (write: () => void) => Promise<void>,
): ReusablePages {
  /** Reading the list takes longer the more pages it has, so it is read only when these are used up. */
  let knownPages = 0;
  const sparePages = Math.floor(storageLimits.journalSpareBytes / pageBytes);

  const find = async (pages: number): Promise<boolean> => {
    for (let attempt = 0; knownPages < pages; attempt += 1) {
      const { now, later } = space.freePages();
      knownPages = now;
      if (knownPages >= pages) break;
      if (attempt === attemptsMax || now + later < pages || now + space.tailPages() < dummyTransactionPages)
        return false;
      // Pages that the last transaction freed become usable after one more transaction.
      await commit(() => void root.put(dummyKey, attempt));
    }
    return true;
  };
  const spend = (pages: number): true => {
    knownPages = Math.max(0, knownPages - pages);
    return true;
  };

  return {
    reserve: async (pages) =>
      space.canRewrite(pages, { isRemoval: false }) && (await find(pages + sparePages)) && spend(pages),
    reserveForRemoval: async (pages) =>
      space.canRewrite(pages, { isRemoval: true }) &&
      ((await find(pages)) || knownPages + space.tailPages() >= pages) &&
      spend(pages),
    invalidate: () => void (knownPages = 0),
  };
}

/** A key of the root database that is not the name of a database. */
const dummyKey = "turn";
const attemptsMax = 2;
/** An upper bound for a transaction that changes one small value. */
const dummyTransactionPages = 16;

import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { RootDatabase } from "lmdb";
import { storageLimits } from "../limits.ts";
import { statsOf } from "./database-pages.ts";
import { readFreePages } from "./free-pages.ts";

/**
 * Room in the file of a database, made before the database needs it.
 *
 * LMDB finds out that a disk is full when it has decided where to write; it then spoils memory of its own (a message longer
 * than its buffer), which ends the process sooner or later. So the file is kept longer than what is in use, by appending
 * zeros: these overwrite nothing, whatever the database writes meanwhile, and a disk that is full refuses them harmlessly.
 */
export type DiskRoom = {
  /**
   * Whether a transaction that writes so many bytes fits behind all that is in use, whatever pages it takes. Where it does,
   * `done` is called once the transaction ended.
   */
  take(bytes: number): boolean;
  done(bytes: number): void;
  /** How many pages such a transaction takes at most. */
  pagesFor(bytes: number): number;
  /** Pages behind all that is in use. No transaction may be under way, here and below. */
  endPages(): number;
  /** Pages among those in use that are free: for the next transaction, and for others only once that is committed. */
  freePages(): { now: number; later: number };
  close(): void;
};

export function openDiskRoom(root: RootDatabase, path: string): DiskRoom {
  const file = openSync(join(path, "data.mdb"), "a+");
  const { pageSize } = statsOf(root);
  let underWayBytes = 0;
  let leftBytes = 0;

  const unusedBytes = (): number => fstatSync(file).size - (statsOf(root).lastPageNumber + 1) * pageSize;
  /** Appends until so much is unused, for commits go on meanwhile. Of what a full disk takes in part, that stays. */
  const growTo = (bytes: number): number => {
    for (;;) {
      const unused = unusedBytes();
      if (unused >= bytes || !append()) return unused;
    }
  };
  const append = (): boolean => {
    try {
      return writeSync(file, zeros) > 0;
    } catch {
      return false;
    }
  };

  return {
    take(bytes) {
      const needed = roomFor(bytes) + storageLimits.journalSpareBytes;
      if (leftBytes < needed) leftBytes = growTo(underWayBytes + needed) - underWayBytes;
      if (leftBytes < needed) return false;
      underWayBytes += roomFor(bytes);
      leftBytes -= roomFor(bytes);
      return true;
    },
    done: (bytes) => void (underWayBytes -= roomFor(bytes)),
    pagesFor: (bytes) => Math.ceil(roomFor(bytes) / pageSize),
    endPages: () => Math.floor(unusedBytes() / pageSize),
    freePages() {
      root.resetReadTxn();
      const { lastTransaction, free } = readFreePages(file, pageSize);
      // LMDB leaves alone what the last transaction freed, and what a reader may still see.
      const before = Math.min(lastTransaction, ...readersOf(root));
      const pages = { now: 0, later: 0 };
      for (const { freedBy, pages: count } of free) pages[freedBy < before ? "now" : "later"] += count;
      // The list of them is written anew, to other pages.
      return { ...pages, now: pages.now - Math.ceil((pages.now + pages.later) / pagesPerListPage) };
    },
    close: () => closeSync(file),
  };
}

/** The transactions whose state is being read. */
function readersOf(root: RootDatabase): number[] {
  return Array.from(root.readerList().matchAll(/ (\d+)$/gm), ([, transaction]) => Number(transaction));
}

const zeros = Buffer.alloc(storageLimits.journalGrowthBytes);

/** Of numbers of 8 bytes, half a page: less is never on one for long. */
const pagesPerListPage = 250;

/** More than they may take: whole pages, and copies of those on the way to what changes. */
const roomFor = (bytes: number): number => Math.ceil(bytes * 1.1) + 65_536;

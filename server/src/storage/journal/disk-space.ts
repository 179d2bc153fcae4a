import { closeSync, fstatSync, openSync, writeSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { storageLimits } from "../limits.ts";

/**
 * Reserves space in a database file before the database needs it.
 *
 * LMDB notices a full disk only after it has decided where to write; it then corrupts its own memory (a message longer
 * than its buffer), which sooner or later ends the process. So the file is kept longer than the used part by appending
 * zeros: they overwrite nothing, whatever the database writes meanwhile, and a full disk refuses them harmlessly. Where
 * the file system copies on write, that does not help (copy-on-write-space.ts).
 */
export type DiskSpace = {
  /**
   * Whether a transaction that writes this many bytes fits after the used pages, whichever pages it uses. If true,
   * call `release` once the transaction has ended.
   */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
  /** The most pages that such a transaction uses. */
  pagesFor(bytes: number): number;
  /** Pages after the last used one. No transaction may be running, here and below. */
  tailPages(): number;
  /** Free pages among the used ones: `now` for the next transaction, `later` for those after it. */
  freePages(): { now: number; later: number };
  /** Whether the disk accepts this many changed pages: always if it writes them in place. */
  canRewrite(pages: number, options: { isRemoval: boolean }): boolean;
  close(): void;
};

export function openDiskSpace(root: RootDatabase, path: string): DiskSpace {
  const file = openSync(join(path, "data.mdb"), "a+");
  const { pageSize } = statsOf(root);
  let inFlightBytes = 0;
  let availableBytes = 0;

  const unusedBytes = (): number => fstatSync(file).size - (statsOf(root).lastPageNumber + 1) * pageSize;
  /**
   * Appends until this much is unused: commits run meanwhile and use it up. Keeps what a full disk accepted in part.
   */
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
    reserve(bytes) {
      const needed = bytesToReserve(bytes) + storageLimits.journalSpareBytes;
      if (availableBytes < needed) availableBytes = growTo(inFlightBytes + needed) - inFlightBytes;
      if (availableBytes < needed) return false;
      inFlightBytes += bytesToReserve(bytes);
      availableBytes -= bytesToReserve(bytes);
      return true;
    },
    release: (bytes) => void (inFlightBytes -= bytesToReserve(bytes)),
    pagesFor: (bytes) => Math.ceil(bytesToReserve(bytes) / pageSize),
    tailPages: () => Math.floor(unusedBytes() / pageSize),
    freePages() {
      root.resetReadTxn();
      const { lastTransaction, free } = readFreePages(file, pageSize);
      // LMDB does not reuse pages that the last transaction freed, or that a reader may still see.
      const before = Math.min(lastTransaction, ...readersOf(root));
      const pages = { now: 0, later: 0 };
      for (const { freedBy, pages: count } of free) pages[freedBy < before ? "now" : "later"] += count;
      // The list of free pages is itself rewritten, to other pages.
      return { ...pages, now: pages.now - Math.ceil((pages.now + pages.later) / pagesPerListPage) };
    },
    canRewrite: () => true,
    close: () => closeSync(file),
  };
}

/** Transactions whose snapshots are being read. */
function readersOf(root: RootDatabase): number[] {
  return Array.from(root.readerList().matchAll(/ (\d+)$/gm), ([, transaction]) => Number(transaction));
}

const zeros = Buffer.alloc(storageLimits.journalGrowthBytes);

/** Page numbers (8 bytes each) per page of the list: half a page, as a page never holds less for long. */
const pagesPerListPage = 250;

/** An upper bound: whole pages, and copies of the pages on the path to each change. */
export const bytesToReserve = (bytes: number): number => Math.ceil(bytes * 1.1) + 65_536;

/** Pages that a transaction freed. */
type FreePages = { freedBy: number; pages: number };

/**
 * The unused pages of a database file, and the last transaction. LMDB keeps them in an internal tree that the library
 * does not expose, so this reads it from the file, in the layout of `mdb.c` of version 3 of the library on
 * little-endian machines. No transaction may be running.
 */
export function readFreePages(file: number, pageSize: number): { lastTransaction: number; free: FreePages[] } {
  const read = (page: number, pages = 1): Buffer => {
    const bytes = Buffer.alloc(pages * pageSize);
    readSync(file, bytes, 0, bytes.length, page * pageSize);
    return bytes;
  };
  const metas = [read(0), read(1)].map((page) => page.subarray(pageHeaderBytes));
  const meta = metas.reduce((a, b) => (numberAt(b, metaAt.transaction) > numberAt(a, metaAt.transaction) ? b : a));
  const free: FreePages[] = [];
  const visit = (pageNumber: number): void => {
    const page = read(pageNumber);
    const body = page.subarray(pageHeaderBytes);
    const isBranch = (page.readUInt16LE(pageAt.flags) & branchFlag) !== 0;
    for (let at = 0; at < page.readUInt16LE(pageAt.nodesEnd); at += 2) {
      const node = body.subarray(body.readUInt16LE(at));
      if (isBranch) visit(node.readUIntLE(0, 6));
      else free.push({ freedBy: numberAt(node, nodeAt.key), pages: pagesIn(valueOf(node, read)) });
    }
  };
  if (meta.readUInt16LE(metaAt.freeDepth) > 0) visit(numberAt(meta, metaAt.freeRoot));
  return { lastTransaction: numberAt(meta, metaAt.transaction), free };
}

/** A value too long for the page of its key is in overflow pages. */
function valueOf(node: Buffer, read: (page: number, pages: number) => Buffer): Buffer {
  const value = node.subarray(nodeAt.key + node.readUInt16LE(nodeAt.keyBytes));
  if ((node.readUInt16LE(nodeAt.flags) & overflowFlag) === 0) return value;
  return read(numberAt(value, 0), numberAt(value, overflowAt.pages)).subarray(pageHeaderBytes);
}

/**
 * A count, then that many numbers: a page, or the negative length of a run followed by its first page, or 0 for none.
 */
function pagesIn(record: Buffer): number {
  let pages = 0;
  for (let i = 1; i <= numberAt(record, 0); i += 1) {
    const number = numberAt(record, i * 8);
    if (number === 0) continue;
    pages += Math.max(-number, 1);
    if (number < 0) i += 1;
  }
  return pages;
}

const numberAt = (bytes: Buffer, offset: number): number => Number(bytes.readBigInt64LE(offset));

const pageHeaderBytes = 24;
const pageAt = { flags: 18, nodesEnd: 20 };
const metaAt = { freeDepth: 30, freeRoot: 64, transaction: 128 };
const nodeAt = { flags: 4, keyBytes: 6, key: 8 };
const overflowAt = { pages: 16 };
const branchFlag = 1;
const overflowFlag = 1;

type TreeStats = { treeBranchPageCount: number; treeLeafPageCount: number; overflowPages: number };
type DatabaseStats = TreeStats & { pageSize: number; lastPageNumber: number };

/** The library does not type its stats; these are the fields that version 3 returns. */
function statsOf(database: Database): DatabaseStats {
  return database.getStats() as DatabaseStats;
}

/** Bytes that a database occupies in its file. */
export function bytesOnDisk(database: Database): number {
  const stats = statsOf(database);
  return pagesOf(stats) * stats.pageSize;
}

const pagesOf = (tree: TreeStats): number => tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages;

/**
 * Bytes written by a removal of values of these lengths: copies of pages shared with other values, and a list of the
 * freed pages.
 */
export function bytesToRemove(lengths: Iterable<number>): number {
  let bytes = 0;
  for (const length of lengths) bytes += 2 * Math.min(length, pageBytes) + (length / pageBytes) * listedBytes;
  return Math.ceil(bytes);
}

export const pageBytes = 4096;
/** Bytes per freed page in that list, which is written twice if it grows meanwhile. */
const listedBytes = 16;

import type { Database } from "lmdb";

type TreeStats = { treeBranchPageCount: number; treeLeafPageCount: number; overflowPages: number };
type DatabaseStats = TreeStats & { pageSize: number; lastPageNumber: number };

/** The library does not type its stats; these are the fields that version 3 returns. */
export function statsOf(database: Database): DatabaseStats {
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

import type { Database } from "lmdb";

type TreeStats = { treeBranchPageCount: number; treeLeafPageCount: number; overflowPages: number };
type DatabaseStats = TreeStats & { pageSize: number; lastPageNumber: number };

/** The library leaves its type open; these are what version 3 of it gives. */
export function statsOf(database: Database): DatabaseStats {
  return database.getStats() as DatabaseStats;
}

/** What a database takes of its file. */
export function bytesOnDisk(database: Database): number {
  const stats = statsOf(database);
  return pagesOf(stats) * stats.pageSize;
}

const pagesOf = (tree: TreeStats): number => tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages;

/** What a removal of values of these lengths writes: copies of pages that they share with others, and a list of those they free. */
export function bytesToRemove(lengths: Iterable<number>): number {
  let bytes = 0;
  for (const length of lengths) bytes += 2 * Math.min(length, pageBytes) + (length / pageBytes) * listedBytes;
  return Math.ceil(bytes);
}

export const pageBytes = 4096;
/** Of a page that is freed, in a list that is written twice where it grows meanwhile. */
const listedBytes = 16;

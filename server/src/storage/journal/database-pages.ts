import type { Database } from "lmdb";

type TreeStats = { treeBranchPageCount: number; treeLeafPageCount: number; overflowPages: number };
type DatabaseStats = TreeStats & Record<"root" | "free", TreeStats> & { pageSize: number; lastPageNumber: number };

/** The library leaves its type open; these are what version 3 of it gives. */
export function statsOf(database: Database): DatabaseStats {
  return database.getStats() as DatabaseStats;
}

export const pagesOf = (tree: TreeStats): number =>
  tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages;

/** What a database takes of its file. */
export function bytesOnDisk(database: Database): number {
  const stats = statsOf(database);
  return pagesOf(stats) * stats.pageSize;
}

import type { RootDatabase } from "lmdb";
import { storageLimits } from "../limits.ts";
import { pageBytes } from "./database-pages.ts";
import type { DiskSpace } from "./disk-space.ts";

/**
 * Scattered free pages in a file that cannot grow, for exclusive transactions that need single pages: LMDB uses each of
 * these before it extends the used part, while contiguous free pages may not exist.
 */
export type ReusablePages = {
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

export function createReusablePages(
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

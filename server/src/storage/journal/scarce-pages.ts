import type { RootDatabase } from "lmdb";
import { storageLimits } from "../limits.ts";
import { pageBytes } from "./database-pages.ts";
import type { DiskRoom } from "./disk-room.ts";

/**
 * Scattered free pages in a file that cannot grow, for exclusive transactions that need single pages: LMDB uses each of
 * these before it extends the used part, while contiguous free pages may not exist.
 */
export type ScarcePages = {
  /**
   * Whether this many pages are free in addition to the reserve for removals, which make room. If true, they count as
   * used.
   */
  take(pages: number): Promise<boolean>;
  /** For a removal: may also use the reserve, and in the end the room after the last used page. */
  takeToRemove(pages: number): Promise<boolean>;
  /** Call it after concurrent transactions, which use free pages too. */
  forget(): void;
};

export function createScarcePages(
  root: RootDatabase,
  room: DiskRoom,
  commit: (write: () => void) => Promise<void>,
): ScarcePages {
  /** Reading the list takes longer the more pages it has, so it is read only when these are used up. */
  let knownPages = 0;
  const sparePages = Math.floor(storageLimits.journalSpareBytes / pageBytes);

  const find = async (pages: number): Promise<boolean> => {
    for (let turn = 0; knownPages < pages; turn += 1) {
      const { now, later } = room.freePages();
      knownPages = now;
      if (knownPages >= pages) break;
      if (turn === turnsMax || now + later < pages || now + room.endPages() < turnPages) return false;
      // Pages that the last transaction freed become usable after one more transaction.
      await commit(() => void root.put(turnKey, turn));
    }
    return true;
  };
  const use = (pages: number): true => {
    knownPages = Math.max(0, knownPages - pages);
    return true;
  };

  return {
    take: async (pages) =>
      room.canChange(pages, { isRemoval: false }) && (await find(pages + sparePages)) && use(pages),
    takeToRemove: async (pages) =>
      room.canChange(pages, { isRemoval: true }) &&
      ((await find(pages)) || knownPages + room.endPages() >= pages) &&
      use(pages),
    forget: () => void (knownPages = 0),
  };
}

/** A key of the root database that is not the name of a database. */
const turnKey = "turn";
const turnsMax = 2;
/** An upper bound for a transaction that changes one small value. */
const turnPages = 16;

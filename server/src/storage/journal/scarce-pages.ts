import type { RootDatabase } from "lmdb";
import { storageLimits } from "../limits.ts";
import { pageBytes } from "./database-pages.ts";
import type { DiskRoom } from "./disk-room.ts";

/**
 * Pages that are free here and there in a file that cannot grow, for transactions that are alone and take one page at a time:
 * LMDB uses each of these before it goes beyond what is in use, while several in a row may not be found.
 */
export type ScarcePages = {
  /** Whether so many are there, and as many again as removals need, which make room. Then they count as used. */
  take(pages: number): Promise<boolean>;
  /** For a removal: what was kept for it, and in the end what is left behind all that is in use. */
  takeToRemove(pages: number): Promise<boolean>;
  /** Called when transactions went on side by side, which take free pages too. */
  forget(): void;
};

export function createScarcePages(
  root: RootDatabase,
  room: DiskRoom,
  commit: (write: () => void) => Promise<void>,
): ScarcePages {
  /** Reading the list takes the longer the more it holds, so it is read only when this is used up. */
  let knownPages = 0;
  const sparePages = Math.floor(storageLimits.journalSpareBytes / pageBytes);

  const find = async (pages: number): Promise<boolean> => {
    for (let turn = 0; knownPages < pages; turn += 1) {
      const { now, later } = room.freePages();
      knownPages = now;
      if (knownPages >= pages) break;
      if (turn === turnsMax || now + later < pages || now + room.endPages() < turnPages) return false;
      // What was freed last is free for others after one more transaction.
      await commit(() => void root.put(turnKey, turn));
    }
    return true;
  };
  const use = (pages: number): true => {
    knownPages = Math.max(0, knownPages - pages);
    return true;
  };

  return {
    take: async (pages) => (await find(pages + sparePages)) && use(pages),
    takeToRemove: async (pages) => ((await find(pages)) || knownPages + room.endPages() >= pages) && use(pages),
    forget: () => void (knownPages = 0),
  };
}

/** A key of the root that is no name of a database. */
const turnKey = "turn";
const turnsMax = 2;
/** More than a transaction takes that changes one small value. */
const turnPages = 16;

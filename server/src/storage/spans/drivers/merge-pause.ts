import type { Session } from "chdb";
import { loopBusyShare } from "../../../lib/loop-busy-share.ts";
import { storageLimits } from "../../limits.ts";

/**
 * Puts merges of the span table off while the event loop is busy and nobody reads: they write rows again for the sake of reads,
 * on processors that calls wait for (docs/adr/0028). When many small parts wait, merges go on until few are left.
 */
export type MergePause = {
  /** Somebody reads: merges go on, for a while at least. */
  sawRead(): void;
  /** Merges go on until the work is done: for deletes, which wait for what merges wait for. */
  without<T>(work: () => Promise<T>): Promise<T>;
  /** Lets merges on and closes the session. */
  stop(): Promise<void>;
};

export type MergePauseOptions = {
  everyMs?: number;
  /** How much of the time since the last call the event loop was busy. */
  busyShare?: () => number;
  nowMs?: () => number;
};

/** @param session used by nobody else */
export function createMergePause(session: Session, options: MergePauseOptions = {}): MergePause {
  const {
    everyMs = storageLimits.mergePauseEveryMs,
    busyShare = loopBusyShare(),
    nowMs = () => performance.now(),
  } = options;
  let isPaused = false;
  let isStopping = false;
  let readMs = Number.NEGATIVE_INFINITY;
  let working = 0;
  let running: Promise<void> | undefined;

  const mayPause = (): boolean => !isStopping && working === 0 && nowMs() - readMs >= storageLimits.writerReadMs;

  const set = async (pause: boolean): Promise<void> => {
    await session.queryAsync(`SYSTEM ${pause ? "STOP" : "START"} MERGES spans`);
    isPaused = pause;
  };

  const decide = async (isBusy: boolean): Promise<void> => {
    if (isPaused && (!isBusy || !mayPause())) return await set(false);
    if (!isBusy || !mayPause()) return;
    const { small, underWay } = await countParts(session);
    if (isPaused && small > storageLimits.mergePauseMaxParts) await set(false);
    // A merge that is stopped half way was in vain.
    if (!isPaused && small <= storageLimits.mergePauseFromParts && underWay === 0 && mayPause()) await set(true);
    // Somebody may have come while the engine was told.
    if (isPaused && !mayPause()) await set(false);
  };

  const look = (isBusy: boolean): Promise<void> => {
    // Where the engine does not say how it is, no pause goes on; what fails then is tried again with the next look.
    running ??= decide(isBusy)
      .catch(() => (isPaused ? set(false) : undefined))
      .catch(() => undefined)
      .finally(() => (running = undefined));
    return running;
  };

  const goOn = async (): Promise<void> => {
    await running;
    if (isPaused) await look(false);
  };

  const timer = setInterval(() => void look(busyShare() > storageLimits.mergePauseBusyShare), everyMs).unref();

  return {
    sawRead() {
      readMs = nowMs();
      if (isPaused) void goOn();
    },
    async without(work) {
      working += 1;
      try {
        await goOn();
        return await work();
      } finally {
        working -= 1;
      }
    },
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await goOn();
      session.close();
    },
  };
}

/**
 * Parts that no merge has made, and what is written again now, or is to be. They are of one insert: their level says nothing, as this
 * engine collapses rows of one key when they come in, and then counts that as a first merge.
 */
async function countParts(session: Session): Promise<{ small: number; underWay: number }> {
  const ofSpans = "database = currentDatabase() AND table = 'spans'";
  const result = await session.queryAsync(
    `SELECT (SELECT count() FROM system.parts WHERE active AND min_block_number = max_block_number AND ${ofSpans}),
      (SELECT count() FROM system.merges WHERE ${ofSpans}) + (SELECT count() FROM system.mutations WHERE NOT is_done AND ${ofSpans})`,
    { format: "TabSeparated" },
  );
  const [small = 0, underWay = 0] = result.text().trim().split("\t").map(Number);
  return { small, underWay };
}

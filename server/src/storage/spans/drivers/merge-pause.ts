import { performance } from "node:perf_hooks";
import type { Session } from "chdb";
import { storageLimits } from "../../limits.ts";

/**
 * Pauses merges of the span table while the event loop is busy and nobody reads: merges rewrite rows to speed up reads,
 * on processors that calls need (docs/adr/0028). If many small parts pile up, merges run until few are left.
 */
export type MergePause = {
  /** To be called on each read: merges run, at least for a while. */
  sawRead(): void;
  /** Lets merges run until the work is done: for deletes, which a pause would block too. */
  without<T>(work: () => Promise<T>): Promise<T>;
  /** Resumes merges and closes the session. */
  stop(): Promise<void>;
};

export type MergePauseOptions = {
  everyMs?: number;
  /** The share of the time since the last call for which the event loop was busy. */
  busyShare?: () => number;
  nowMs?: () => number;
};

/** @param session nobody else may use it */
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
    const { small, inProgress } = await countParts(session);
    if (isPaused && small > storageLimits.mergePauseMaxParts) await set(false);
    // Stopping a running merge would waste its work.
    if (!isPaused && small <= storageLimits.mergePauseFromParts && inProgress === 0 && mayPause()) await set(true);
    // A read may have come while the statement ran.
    if (isPaused && !mayPause()) await set(false);
  };

  const probe = (isBusy: boolean): Promise<void> => {
    // If the state of the engine cannot be read, the pause ends; if that fails too, the next tick tries again.
    running ??= decide(isBusy)
      .catch(() => (isPaused ? set(false) : undefined))
      .catch(() => undefined)
      .finally(() => (running = undefined));
    return running;
  };

  const goOn = async (): Promise<void> => {
    await running;
    if (isPaused) await probe(false);
  };

  const timer = setInterval(() => void probe(busyShare() > storageLimits.mergePauseBusyShare), everyMs).unref();

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
 * Counts parts that come from a single insert, and merges and mutations that are running or pending. The level of a
 * part does not tell: this engine collapses rows with the same key on insert and counts that as a first merge.
 */
async function countParts(session: Session): Promise<{ small: number; inProgress: number }> {
  const ofSpans = "database = currentDatabase() AND table = 'spans'";
  const result = await session.queryAsync(
    `SELECT (SELECT count() FROM system.parts WHERE active AND min_block_number = max_block_number AND ${ofSpans}),
      (SELECT count() FROM system.merges WHERE ${ofSpans}) + (SELECT count() FROM system.mutations WHERE NOT is_done AND ${ofSpans})`,
    { format: "TabSeparated" },
  );
  const [small = 0, inProgress = 0] = result.text().trim().split("\t").map(Number);
  return { small, inProgress };
}

/** Each call returns the share of the time since the previous call in which the event loop was busy, from 0 to 1. */
function loopBusyShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

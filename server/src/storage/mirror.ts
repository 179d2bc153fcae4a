import { setTimeout as sleep } from "node:timers/promises";
import { storageLimits } from "./limits.ts";

/**
 * Copies what the control store has into the span store, soon after it changed, and again and again where that fails. What
 * is to be copied is marked in the control store, so that none is lost.
 */
export type Mirror = {
  /** There is something to copy. */
  poke(): void;
  /** Resolves when all that was there before is copied, or after a while: for reads after a write. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
};

export type MirrorDeps = {
  /** Whether there may be more. */
  copyBatch: (signal: AbortSignal) => Promise<boolean>;
  onFailure: (error: unknown) => void;
  retryMs: number;
  /** Other nodes may have left some, if they ended before they copied them. */
  everyMs: number;
  /** A little patience makes one insert of many changes. */
  groupMs: number;
};

export function startMirror({ copyBatch, onFailure, retryMs, everyMs, groupMs }: MirrorDeps): Mirror {
  const stopping = new AbortController();
  const { signal } = stopping;
  let asked = 1;
  let done = 0;
  let wake = (): void => undefined;
  const waiters = new Set<{ asked: number; resolve: () => void }>();
  const pause = async (ms: number): Promise<void> => {
    if (signal.aborted) return;
    const timer = setTimeout(() => wake(), ms).unref();
    await new Promise<void>((resolve) => (wake = resolve));
    clearTimeout(timer);
  };

  const copyAll = async (): Promise<void> => {
    const target = asked;
    try {
      while (!signal.aborted && (await copyBatch(signal)));
      done = target;
    } catch (error) {
      if (signal.aborted) return;
      onFailure(error);
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
    }
    for (const waiter of waiters) if (waiter.asked <= done) waiter.resolve();
  };
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await copyAll();
      if (done < asked) continue;
      await pause(everyMs);
      if (waiters.size === 0) await pause(groupMs);
    }
  };
  const running = loop();

  return {
    poke() {
      asked += 1;
      // Further ones leave it its patience; whoever waits for the copy ends that.
      if (done >= asked - 1) wake();
    },
    async caughtUp() {
      if (done >= asked) return;
      const waiter = { asked, resolve: (): void => undefined };
      const copied = new Promise<void>((resolve) => (waiter.resolve = resolve));
      waiters.add(waiter);
      wake();
      await Promise.race([copied, sleep(storageLimits.readYourWriteMs, undefined, { ref: false })]);
      waiters.delete(waiter);
    },
    async stop() {
      stopping.abort();
      wake();
      await running;
    },
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { storageLimits } from "./limits.ts";

/**
 * Copies changes of the control store into the span store, soon after they happen, and retries failures. Changes are
 * marked in the control store, so that none is lost.
 */
export type Mirror = {
  /** Call it when there is something to copy. */
  poke(): void;
  /** Resolves when all earlier changes are copied, or after a timeout: for reads after a write. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
};

export type MirrorDeps = {
  /** Resolves to whether there may be more. */
  copyBatch: (signal: AbortSignal) => Promise<boolean>;
  onFailure: (error: unknown) => void;
  retryMs: number;
  /** How often to check without a wake-up: other nodes may have ended before they copied their changes. */
  everyMs: number;
  /** How long to wait, so that one insert takes many changes. */
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
      // Further changes do not cut the wait short; a waiter in `caughtUp` does.
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

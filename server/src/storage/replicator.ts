import { setTimeout as sleep } from "node:timers/promises";
import { storageLimits } from "./limits.ts";

/**
 * Copies changes of the control store into the span store, soon after they happen, and retries failures. Changes are
 * marked in the control store, so that none is lost.
 */
export type Replicator = {
  /** Call it when there is something to copy. */
  wake(): void;
  /** Resolves when all earlier changes are copied, or after a timeout: for reads after a write. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
};

export type ReplicatorDeps = {
  /** Resolves to whether there may be more. */
  copyBatch: (signal: AbortSignal) => Promise<boolean>;
  onFailure: (error: unknown) => void;
  retryMs: number;
  /** How often to check without a wake-up: other nodes may have ended before they copied their changes. */
  everyMs: number;
  /** How long to wait, so that one insert takes many changes. */
  groupMs: number;
};

export function startReplicator({ copyBatch, onFailure, retryMs, everyMs, groupMs }: ReplicatorDeps): Replicator {
  const stopping = new AbortController();
  const { signal } = stopping;
  let requested = 1;
  let done = 0;
  let wakeNow = (): void => undefined;
  const waiters = new Set<{ requested: number; resolve: () => void }>();
  const pause = async (ms: number): Promise<void> => {
    if (signal.aborted) return;
    const timer = setTimeout(() => wakeNow(), ms).unref();
    await new Promise<void>((resolve) => (wakeNow = resolve));
    clearTimeout(timer);
  };

  const copyAll = async (): Promise<void> => {
    const target = requested;
    try {
      while (!signal.aborted && (await copyBatch(signal)));
      done = target;
    } catch (error) {
      if (signal.aborted) return;
      onFailure(error);
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
    }
    for (const waiter of waiters) if (waiter.requested <= done) waiter.resolve();
  };
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await copyAll();
      if (done < requested) continue;
      await pause(everyMs);
      if (waiters.size === 0) await pause(groupMs);
    }
  };
  const running = loop();

  return {
    wake() {
      requested += 1;
      // Further changes do not cut the wait short; a waiter in `caughtUp` does.
      if (done >= requested - 1) wakeNow();
    },
    async caughtUp() {
      if (done >= requested) return;
      const waiter = { requested, resolve: (): void => undefined };
      const copied = new Promise<void>((resolve) => (waiter.resolve = resolve));
      waiters.add(waiter);
      wakeNow();
      await Promise.race([copied, sleep(storageLimits.readYourWriteMs, undefined, { ref: false })]);
      waiters.delete(waiter);
    },
    async stop() {
      stopping.abort();
      wakeNow();
      await running;
    },
  };
}

import type { Session } from "chdb";
import { storageLimits } from "../../limits.ts";

/**
 * Gives what chDB has freed back to the system, again and again: without work its allocator keeps it (after a query that
 * took 280 MiB it kept them all, and gave back all but 3 when asked). Where nothing was freed this takes about a millisecond.
 */
export function releaseMemory(session: Session): { stop(): Promise<void> } {
  let running: Promise<unknown> = Promise.resolve();
  let isRunning = false;
  const release = async (): Promise<void> => {
    isRunning = true;
    // What cannot be given back now is so the next time.
    await session.queryAsync("SYSTEM JEMALLOC PURGE").catch(() => undefined);
    isRunning = false;
  };
  const timer = setInterval(() => {
    if (!isRunning) running = release();
  }, storageLimits.embeddedMemoryReleaseEveryMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
      session.close();
    },
  };
}

import type { Session } from "chdb";
import { storageLimits } from "../../limits.ts";

/**
 * Periodically returns memory that chDB has freed to the system: its allocator keeps it while idle (after a query that
 * took 280 MiB it kept all of it, and a purge returned all but 3 MiB). Takes about a millisecond if nothing was freed.
 */
export function releaseMemory(session: Session): { stop(): Promise<void> } {
  let running: Promise<unknown> = Promise.resolve();
  let isRunning = false;
  const release = async (): Promise<void> => {
    isRunning = true;
    // After a failure, the next run tries again.
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

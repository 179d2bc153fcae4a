import { setTimeout as sleep } from "node:timers/promises";
import { storageLimits } from "../../limits.ts";

const sqliteBusy = 5;

/**
 * Repeats a statement while another process holds a lock that it needs, up to `controlBusyMs`. A statement that fails in
 * this way has changed nothing. SQLite's own timeout would block the event loop.
 */
export async function retryWhileBusy<T>(run: () => T | Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + storageLimits.controlBusyMs;
  while (true) {
    try {
      return await run();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
      await sleep(storageLimits.controlBusyRetryMs);
    }
  }
}

function isBusy(error: unknown): boolean {
  // The low byte is the primary result code.
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === sqliteBusy;
}

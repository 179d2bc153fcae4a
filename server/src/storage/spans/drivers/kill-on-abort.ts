import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "chdb";
import { storageLimits } from "../../limits.ts";

/**
 * Kills the statement on abort, then waits for its end, because the connection is not free before. A kill before the
 * statement is registered finds nothing, so kills are repeated.
 */
export async function killOnAbort<T>(
  work: Promise<T>,
  tag: string,
  control: Session,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return await work;
  let isRunning = true;
  const kill = async () => {
    while (isRunning) {
      await control.queryAsync(`KILL QUERY WHERE Settings['log_comment'] = '${tag}' ASYNC`).catch(() => undefined);
      await sleep(storageLimits.queryKillEveryMs);
    }
  };
  const onAbort = () => void kill();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await work;
  } finally {
    isRunning = false;
    signal.removeEventListener("abort", onAbort);
  }
}

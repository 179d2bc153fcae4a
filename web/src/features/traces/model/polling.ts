const quietMs = 90_000;
const leastMs = 1_500;
const mostMs = 15_000;

/**
 * When to look at a trace again; false once no span of it ended for a while. Slower while nothing changes, and never so often
 * that reading takes more than a tenth of the time.
 */
export function nextLookMs(state: {
  nowMs: number;
  /** When the last span ended, by the server's clock. */
  newestMs: number;
  /** Looks in a row that brought nothing new. */
  unchanged: number;
  /** How long the last look took. */
  tookMs: number;
}): number | false {
  if (!isRunning(state.nowMs, state.newestMs)) return false;
  const waitMs = leastMs * 1.6 ** Math.min(state.unchanged, 10);
  return Math.min(Math.max(waitMs, state.tookMs * 9), Math.max(mostMs, state.tookMs * 9));
}

/** Whether spans may still come. A clock far ahead tells nothing of that. */
export function isRunning(nowMs: number, newestMs: number): boolean {
  return Math.abs(nowMs - newestMs) <= quietMs;
}

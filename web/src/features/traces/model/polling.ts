const quietMs = 90_000;
const leastMs = 1_500;
const mostMs = 15_000;

/**
 * The delay before the next poll of a trace; false once no span of it has ended for a while. Polls less often while
 * nothing changes, and so that requests take at most a tenth of the time.
 */
export function nextPollMs(state: {
  nowMs: number;
  /** The end time of the last span, by the server's clock. */
  newestMs: number;
  /** Consecutive polls without changes. */
  unchanged: number;
  /** How long the last poll took. */
  tookMs: number;
}): number | false {
  if (!isRunning(state.nowMs, state.newestMs)) return false;
  const waitMs = leastMs * 1.6 ** Math.min(state.unchanged, 10);
  return Math.min(Math.max(waitMs, state.tookMs * 9), Math.max(mostMs, state.tookMs * 9));
}

/** Whether more spans may arrive. An end time far in the future is ignored. */
export function isRunning(nowMs: number, newestMs: number): boolean {
  return Math.abs(nowMs - newestMs) <= quietMs;
}

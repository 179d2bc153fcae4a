const minuteMs = 60_000;

export type AlertClock = {
  nowMs: number;
  /**
   * Delay between the end of a window and its evaluation, because spans are stored some time after they were accepted.
   */
  settleMs: number;
  /** Windows that ended longer ago than this are skipped. A multiple of a minute. */
  catchUpMs: number;
};

/** The end of the newest window that may be evaluated: a full minute. Milliseconds since the epoch. */
export function newestEndMs({ nowMs, settleMs }: AlertClock): number {
  return Math.floor((nowMs - settleMs) / minuteMs) * minuteMs;
}

/**
 * The end of the window that a rule evaluates next; undefined if there is none yet. Ends only rise, so that no window
 * is evaluated twice, even if the clock is set back. After an interruption, windows follow each other without gaps
 * instead of every minute.
 */
export function nextWindowEndMs(
  { evaluatedUntilMs, windowMs }: { evaluatedUntilMs: number | undefined; windowMs: number },
  clock: AlertClock,
): number | undefined {
  const newestMs = newestEndMs(clock);
  if (evaluatedUntilMs === undefined) return newestMs;
  if (newestMs <= evaluatedUntilMs) return undefined;
  return Math.max(Math.min(newestMs, evaluatedUntilMs + windowMs), newestMs - clock.catchUpMs);
}

/** When the window after the one that ends at `endMs` may be evaluated. */
export function nextEvaluationMs(endMs: number, clock: AlertClock): number {
  return endMs < newestEndMs(clock) ? clock.nowMs : endMs + minuteMs + clock.settleMs;
}

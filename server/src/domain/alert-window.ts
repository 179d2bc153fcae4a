const minuteMs = 60_000;

export type AlertClock = {
  nowMs: number;
  /** A window is evaluated so long after its end, because spans are stored a moment after they were accepted. */
  settleMs: number;
  /** What lies further back is not made up for. A multiple of a minute. */
  catchUpMs: number;
};

/** The end of the newest window that may be evaluated: a full minute. Milliseconds since the epoch. */
export function newestEndMs({ nowMs, settleMs }: AlertClock): number {
  return Math.floor((nowMs - settleMs) / minuteMs) * minuteMs;
}

/**
 * The end of the window that a rule evaluates next; undefined while there is none. Ends only grow, so that no window is evaluated
 * twice, also when the clock is set back. After an interruption, windows follow each other without a gap instead of by the minute.
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

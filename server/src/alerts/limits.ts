const minuteMs = 60_000;
const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * 60 * 60 * 1_000;

/** Limits of alerts, with the unit in each name. */
export const alertsLimits = {
  /** Of one rule. Of more, those with the largest values or most spans are watched. */
  alertGroups: 1_000,
  /** Of all rules that one query measures: with more, each filter has a query of its own. */
  alertGroupsTogether: 20_000,
  /** Rules that one query measures, and up to which window they may have different filters: over a longer one, an index may find fewer spans. */
  alertsTogether: 100,
  /** Of one evaluation; what is beyond is told with the next. */
  alertEvents: 50,
  /** How long a group without spans is remembered, at least. */
  alertGroupMemoryMs: dayMs,
  alertHistoryMs: 90 * dayMs,
  alertPurgeEveryMs: hourMs,
  alertPurgeRows: 1_000,
  /** Spans are stored within a second of their receipt. */
  alertSettleMs: 5_000,
  /** What was not evaluated for longer is left out. */
  alertCatchUpMs: hourMs,
  alertPollMs: 1_000,
  /** Rules that a node evaluates at a time, of different organizations. */
  alertsInFlight: 2,
  /** Between evaluations, at most; and for how long after the last window ended there is time to. */
  alertRestMs: 500,
  alertLateMs: 1.5 * minuteMs,
  alertClaimMs: minuteMs,
  /** When an evaluation is tried again: one that the store did not answer, one that took too much of it, one that is wrong. */
  alertRetryMs: 10_000,
  alertHeavyRetryMs: 10 * minuteMs,
  alertErrorRetryMs: minuteMs,
  alertErrorChars: 1_000,
} as const;

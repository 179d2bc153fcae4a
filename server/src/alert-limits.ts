/** The bounds of alerts, a part of those in limits.ts. */
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const alertLimits = {
  alertsPerOrganization: 200,
  alertChannels: 5,
  alertChannelUrlChars: 1_000,
  /** Filters stand in links, which have to fit into a URL. */
  alertFiltersChars: 2_000,
  /** Of one rule. Of more, those with the largest values or most spans are watched. */
  alertGroups: 1_000,
  /** Of all rules that one query measures: with more, each filter has a query of its own. */
  alertGroupsTogether: 20_000,
  /** Rules that one query measures, and up to which window they may have different filters: over a longer one, an index may find fewer spans. */
  alertsTogether: 100,
  alertTogetherWindowMs: hourMs,
  /** Of one evaluation; what is beyond is told with the next. */
  alertEvents: 50,
  /** How long a group without spans is remembered, at least. */
  alertGroupMemoryMs: dayMs,
  alertGroupsShown: 100,
  alertWindowMinMs: 5 * minuteMs,
  alertWindowMaxMs: 30 * dayMs,
  alertCooldownMaxMs: dayMs,
  alertHistoryRows: 1_000,
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
  alertTestEveryMs: 10_000,
} as const;

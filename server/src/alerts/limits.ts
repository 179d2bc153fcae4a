const minuteMs = 60_000;
const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * 60 * 60 * 1_000;

/** Limits of alerts, with the unit in each name. */
export const alertsLimits = {
  /** Groups of one rule. If there are more, those with the largest values or the most spans are watched. */
  alertGroups: 1_000,
  /** Groups of all rules that one query measures. With more, each filter gets its own query. */
  alertGroupsTogether: 20_000,
  /**
   * Rules that one query measures: of one organization and environment, with the same window and groups. Further rules get
   * further queries.
   */
  alertsTogether: 100,
  /** Events of one evaluation. The next evaluation sends the rest. */
  alertEvents: 50,
  /** How long a group without spans is remembered, at least. */
  alertGroupMemoryMs: dayMs,
  /** How long the history of alerts is retained. */
  alertHistoryMs: 90 * dayMs,
  /** How often older history is deleted, and how many entries one statement deletes. */
  alertPurgeEveryMs: hourMs,
  alertPurgeRows: 1_000,
  /** Spans are stored within a second of their receipt. */
  alertSettleMs: 5_000,
  /** Windows that were missed for longer than this are skipped. */
  alertCatchUpMs: hourMs,
  /** How often a node looks for due rules. */
  alertPollMs: 1_000,
  /** Rules of different organizations that a node evaluates at the same time. */
  alertsInFlight: 2,
  /**
   * The longest pause between evaluations. There is no pause once the last evaluated window ended longer than
   * `alertLateMs` ago.
   */
  alertPauseMs: 500,
  alertLateMs: 1.5 * minuteMs,
  /** How long claimed rules belong to a node. If the node dies, they are due again after this time. */
  alertClaimMs: minuteMs,
  /**
   * Delays before an evaluation is retried: after the store was unavailable, after the query was too large, and after
   * an error of the rule.
   */
  alertRetryMs: 10_000,
  alertHeavyRetryMs: 10 * minuteMs,
  alertErrorRetryMs: minuteMs,
  alertErrorChars: 1_000,
} as const;

/** Limits of upkeep, with the unit in each name. */
export const jobsLimits = {
  retentionEveryMs: 60 * 60 * 1_000,
  /** Each round rewrites parts of the tables. */
  retentionAgainMs: 24 * 60 * 60 * 1_000,
  deletionProgressEveryMs: 60_000,
  mediaSweepEveryMs: 60 * 60 * 1_000,
  /** The tombstones of a deleted trace stay in the table for at least this time. */
  traceTombstoneMs: 24 * 60 * 60 * 1_000,
  traceDeletionFlushMs: 2_000,
  traceDeletionSweepEveryMs: 2_000,
  traceDeletionPurgeEveryMs: 60 * 60 * 1_000,
  sumsEveryMs: 20_000,
  sumsMarginMs: 60_000,
  sumsOpenMs: 120_000,
  /** Longer than a portion and its pause take. */
  sumsTurnMs: 120_000,
  /** Spans of one statement, and of one slot. A larger slot is always read from its spans. */
  sumsPortionRows: 500_000,
  sumsSlotRows: 5_000_000,
  /** The share of time that is spent on building. */
  sumsBusyShare: 0.2,
  auditDays: 400,
  /** If the leader dies, another node takes over after this time. */
  leaseMs: 60_000,
  leaseRenewEveryMs: 15_000,
  customerErasureSweepEveryMs: 2_000,
  erasedNamesEveryMs: 60 * 60 * 1_000,
  /** Spans that one request reprices, and that it reads. */
  repricedSpans: 20_000,
  repricedLookedAt: 200_000,
  repricedPage: 1_000,
} as const;

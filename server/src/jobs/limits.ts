/** Limits of upkeep, with the unit in each name. */
export const jobsLimits = {
  /** How often the leader checks whether retention has something to delete. */
  retentionEveryMs: 60 * 60 * 1_000,
  /** The time between two rounds of retention over spans: each rewrites parts of the tables. */
  retentionAgainMs: 24 * 60 * 60 * 1_000,
  /** How often the metrics of background deletions are updated. */
  deletionProgressEveryMs: 60_000,
  /** How often the leader deletes media that no span uses. */
  mediaSweepEveryMs: 60 * 60 * 1_000,
  /** The tombstones of a deleted trace stay in the table for at least this time. */
  traceTombstoneMs: 24 * 60 * 60 * 1_000,
  /** How long a deletion waits, at most, for accepted spans to be stored. */
  traceDeletionFlushMs: 2_000,
  /** How often a node learns of traces that other nodes deleted. */
  traceDeletionSweepEveryMs: 2_000,
  /** How often the leader frees the disk space of deleted traces. */
  traceDeletionPurgeEveryMs: 60 * 60 * 1_000,
  /** How often stored sums are built. */
  sumsEveryMs: 20_000,
  /** Spans stored less than this time before a pass are left to the next one: clocks and replicas may differ. */
  sumsMarginMs: 60_000,
  /** A slot is summed at the earliest this long after its end, in addition to the margin. */
  sumsOpenMs: 120_000,
  /** Longer than a portion and its pause take. */
  sumsLeaseMs: 120_000,
  /** Spans of one statement, and of one slot. A larger slot is always read from its spans. */
  sumsPortionRows: 500_000,
  sumsSlotRows: 5_000_000,
  /** How often a statement of a pass is tried, and the time between two tries. */
  sumsAttempts: 3,
  sumsRetryMs: 5_000,
  /** The share of time that is spent on building. */
  sumsBusyShare: 0.2,
  /** Days for which the audit log is retained. */
  auditDays: 400,
  /** If the leader dies, another node takes over after this time. */
  leaseMs: 60_000,
  /** How often the leader renews its lease, and other nodes check whether it is free. */
  leaseRenewEveryMs: 15_000,
  /** How often a node learns of customers that other nodes deleted. */
  customerErasureSweepEveryMs: 2_000,
  erasedNamesEveryMs: 60 * 60 * 1_000,
  /** Spans that one request reprices, and that it reads. */
  repricedSpans: 20_000,
  repricedExamined: 200_000,
  repricedPage: 1_000,
  /** The time to retry after, for a request that is refused because another one reprices spans of the organization. */
  repricingRetryS: 5,
} as const;

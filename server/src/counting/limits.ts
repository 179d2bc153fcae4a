/** Limits of counting, with the unit in each name. */
export const countingLimits = {
  /** Spans of recent traces that are remembered for counting. Others are read from the store again. */
  countedSpansRetained: 100_000,
  /** Stored spans that are counted at a time. */
  countedBatchRows: 5_000,
  /** Traces that one query reads. */
  countedTracesRead: 500,
  /** With several nodes: how often each looks for spans of which nodes stored versions with different end times. */
  dividedEveryMs: 5 * 60 * 1_000,
  /** Such a search covers rows that were stored within this time, which is longer than two intervals. */
  dividedWithinMs: 12 * 60 * 1_000,
  /**
   * Versions of a span without trace and time, by its `Idempotency-Key`, that nodes received within this time of each
   * other are one span as soon as both are stored; others when a search finds them.
   */
  keyedResendMs: 2 * 60 * 1_000,
  /** Spans that one such search returns. */
  dividedFound: 10_000,
  /** How often traces that name each other's calls are counted in one round. */
  countedPasses: 4,
  /** Gateway spans that others name before they are stored. */
  wantedGatewayCalls: 10_000,
  /** How long they are remembered. */
  wantedGatewayCallMs: 60 * 60 * 1000,
} as const;

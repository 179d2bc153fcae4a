/** Limits of counting, with the unit in each name. */
export const countingLimits = {
  /** Spans of recent traces that are remembered for counting. Others are read from the store again. */
  countedSpansKept: 100_000,
  countedBatchRows: 5_000,
  countedTracesRead: 500,
  dividedEveryMs: 5 * 60 * 1_000,
  dividedWithinMs: 12 * 60 * 1_000,
  dividedFound: 10_000,
  /** How often traces that name each other's calls are counted in one round. */
  countedPasses: 4,
  /** Gateway spans that others name before they are stored. */
  wantedGatewayCalls: 10_000,
  wantedGatewayCallMs: 60 * 60 * 1000,
} as const;

/** Limits shared by several parts, with the unit in each name. */
export const domainLimits = {
  pageSizeDefault: 50,
  spanNodes: 250_000,
  /** Keys and values of one request body: parsing takes about a second per million at worst. */
  bodyNodes: 1_000_000,
  identifierChars: 254,
  /** How long media without references is kept: well over `mediaKnownMs`. */
  mediaUnusedMs: 2 * 60 * 60 * 1_000,
  /**
   * How long resends to a deleted trace stay deleted: until the hourly purge has certainly removed the tombstones that
   * would hide them.
   */
  deletedTraceMs: 26 * 60 * 60 * 1_000,
  deletedTraces: 500_000,
  traceDeletionOverlapMs: 60_000,
  writerRetryMaxMs: 5_000,
  /** Ids per query for the stored versions of spans. */
  dividedIdsRead: 2_000,
  passwordCharsMin: 8,
  retentionDaysMax: 36_500,
  /** Each one queries the conversations of the window separately. */
  newMessagesConditions: 5,
} as const;

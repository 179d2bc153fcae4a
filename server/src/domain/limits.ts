/** Limits of what several parts share, with the unit in each name. */
export const domainLimits = {
  pageSizeDefault: 50,
  spanNodes: 250_000,
  /** Keys and values of one request body: parsing takes about a second a million at worst. */
  bodyNodes: 1_000_000,
  identifierChars: 254,
  /** How long media stays that no span refers to: well over `mediaKnownMs`. */
  mediaUnusedMs: 2 * 60 * 60 * 1_000,
  /** How long what is sent again of it stays deleted: until the hourly purge has surely taken what would hide it. */
  deletedTraceMs: 26 * 60 * 60 * 1_000,
  deletedTraces: 500_000,
  traceDeletionOverlapMs: 60_000,
  writerRetryMaxMs: 5_000,
  /** Spans of which nodes stored several versions: ids of one look, how often all of late are looked through, how far back, how many. */
  dividedIdsRead: 2_000,
  passwordCharsMin: 8,
  retentionDaysMax: 36_500,
  /** Each goes over the conversations of the window by itself. */
  newMessagesConditions: 5,
} as const;

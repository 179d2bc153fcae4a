const KiB = 1024;

/** The bounds of filters; `limits.ts` has them all. */
export const filterLimits = {
  filterConditions: 100,
  /** Each goes over the conversations of the window by itself. */
  newMessagesConditions: 5,
  // More than `bulkDeleteTraces` ids can be named, so that too many are refused as what they are.
  filterValues: 2000,
  filterValueChars: 8192,
  filterDepth: 16,
  filterChars: 128 * KiB,
  /** Of `contains` and `icontains` in one request: each text may take a pass over all payload of the window, a long one several. */
  filterSearchTexts: 50,
  filterSearchChars: 8 * KiB,
  /** What a filter looks for in one pass over a text. */
  searchPatternChars: 4 * KiB,
  /** Texts of one condition, and characters of each, up to which they are also looked for in JSON within strings. */
  nestedSearchTexts: 8,
  nestedSearchChars: 512,
} as const;

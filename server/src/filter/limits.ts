const KiB = 1024;

/** Limits of filters, with the unit in each name. */
export const filterLimits = {
  spanDepth: 256,
  metadataKeys: 1024,
  metadataKeyChars: 1024,
  metadataIndexDepth: 16,
  metadataJsonChars: 8 * KiB,
  filterConditions: 100,
  filterValues: 2000,
  filterValueChars: 8192,
  filterDepth: 16,
  filterChars: 128 * KiB,
  /**
   * Texts of `contains` and `icontains` per request: each may need a pass over all payload of the window, a long one
   * several.
   */
  filterSearchTexts: 50,
  filterSearchChars: 8 * KiB,
  /** Length of the pattern that one pass over a text searches for. */
  searchPatternChars: 4 * KiB,
  /** Up to this many texts per condition, and characters of each, a search also covers JSON within strings. */
  nestedSearchTexts: 8,
  nestedSearchChars: 512,
} as const;

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
  /** Of `contains` and `icontains` in one request: each text may take a pass over all payload of the window, a long one several. */
  filterSearchTexts: 50,
  filterSearchChars: 8 * KiB,
  /** What a filter looks for in one pass over a text. */
  searchPatternChars: 4 * KiB,
  /** Texts of one condition, and characters of each, up to which they are also looked for in JSON within strings. */
  nestedSearchTexts: 8,
  nestedSearchChars: 512,
} as const;

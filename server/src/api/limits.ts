const KiB = 1024;
const MiB = 1024 * 1024;
const minuteMs = 60_000;
const dayMs = 24 * 60 * 60 * 1_000;

/** Limits of the API, with the unit in each name. */
export const apiLimits = {
  threadPageSizeDefault: 100,
  pageTokenChars: 4_096,
  /** Rows of one request to the legacy ingest route. */
  ingestRows: 20_000,
  noteChars: 10_000,
  /** JSON characters of the metadata in one change of a span. */
  changedMetadataChars: 64 * KiB,
  /** A trace with more spans, or more bytes of input, output and metadata, is returned without these. */
  fullTreeSpans: 10_000,
  fullTreeBytes: 64 * MiB,
  bulkDeleteTraces: 1_000,
  savedViewSearchChars: 8 * KiB,
  webhookNameChars: 70,
  /** Bytes of one response; bytes that a tool reads for it; spans of an outline. */
  mcpAnswerBytes: 96 * KiB,
  mcpReadBytes: 16 * MiB,
  mcpOutlineSpans: 200,
  /** An export ends after its client has read nothing for this long. */
  exportStallMs: 60_000,
  exportFieldsChars: 8_192,
  /** Customers of an organization. */
  exportMarkups: 100_000,
  /** Limits of a time series: buckets, series besides the one for all others, and values in total. */
  seriesBuckets: 1_500,
  seriesMax: 50,
  seriesPoints: 50_000,
  /** Limits of facets: fields, and values of each. */
  facetFields: 20,
  facetValuesMax: 100,
  alertChannels: 5,
  alertChannelUrlChars: 1_000,
  /** Filters are part of links, which have to fit into a URL. */
  alertFiltersChars: 2_000,
  alertGroupsShown: 100,
  alertWindowMinMs: 5 * minuteMs,
  alertWindowMaxMs: 30 * dayMs,
  alertCooldownMaxMs: dayMs,
  alertTestEveryMs: 10_000,
  temporaryKeyMs: 60 * 60 * 1_000,
  passwordChars: 1024,
  temporaryKeyMaxMs: 90 * 24 * 60 * 60 * 1_000,
  temporaryKeyUsageMax: 1_000_000_000,
  tokenChars: 4_096,
  displayNameChars: 255,
  customerTopModels: 5,
  conditionPageSizeDefault: 20,
  evaluatorsPerAutomation: 20,
  /** Characters of each text of an evaluator: prompts, code, patterns. */
  evaluatorTextChars: 64 * KiB,
  evaluatorTags: 100,
  scoreChoices: 100,
  /** How long a score waits for the trace that it names; after that its sender retries. */
  scoredTraceWaitMs: 10_000,
  scorePageSizeMax: 100,
  providerModels: 1_000,
  /** Providers keep responses for 30 days. */
  responseSpanMs: 31 * 24 * 60 * 60_000,
  /** The body of one call. */
  gatewayBodyBytes: 32 * MiB,
  /** The multipart form around an audio file. */
  audioFormBytes: 26 * MiB,
  repricedSample: 20,
} as const;

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
  /** JSON of the metadata that one change of a span has. */
  changedMetadataChars: 64 * KiB,
  /** A trace of more spans, or of more bytes of input, output and metadata, is retrieved without those. */
  fullTreeSpans: 10_000,
  fullTreeBytes: 64 * MiB,
  bulkDeleteTraces: 1_000,
  savedViewSearchChars: 8 * KiB,
  webhookNameChars: 70,
  /** Of one answer; what a tool reads to make it; spans of an outline. */
  mcpAnswerBytes: 96 * KiB,
  mcpReadBytes: 16 * MiB,
  mcpOutlineSpans: 200,
  /** A client that takes nothing for so long has lost interest. */
  exportStallMs: 60_000,
  exportFieldsChars: 8_192,
  /** Customers of an organization. */
  exportMarkups: 100_000,
  /** Of a time series: buckets, series beside the one of all others, and values together. */
  seriesBuckets: 1_500,
  seriesMax: 50,
  seriesPoints: 50_000,
  /** Of facets: fields, and values of each. */
  facetFields: 20,
  facetValuesMax: 100,
  alertChannels: 5,
  alertChannelUrlChars: 1_000,
  /** Filters stand in links, which have to fit into a URL. */
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
  /** Prompts, code, patterns: each text of an evaluator. */
  evaluatorTextChars: 64 * KiB,
  evaluatorTags: 100,
  scoreChoices: 100,
  /** How long a score waits for the trace that it names; after that its sender tries again. */
  scoredTraceWaitMs: 10_000,
  scorePageSizeMax: 100,
  providerModels: 1_000,
  /** Providers keep responses for 30 days. */
  responseSpanMs: 31 * 24 * 60 * 60_000,
  /** Body of one call. */
  gatewayBodyBytes: 32 * MiB,
  /** The form that holds it. */
  audioFormBytes: 26 * MiB,
  repricedSample: 20,
} as const;

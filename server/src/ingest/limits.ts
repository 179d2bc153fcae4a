const KiB = 1024;
const MiB = 1024 * 1024;

/** Limits of ingest, with the unit in each name. */
export const ingestLimits = {
  /** Streams of the live tail on a node. */
  liveListeners: 256,
  /** How often the live tail queries the span store. */
  livePollMs: 500,
  /** Spans become readable some time after they were received: each poll reads this far back again. */
  liveOverlapMs: 5_000,
  /**
   * Counts find spans that were stored later. `liveCountMs` is their interval; `liveCountPause` is the shortest pause
   * between them, as a multiple of the duration of a count.
   */
  liveCountMs: 10_000,
  liveCountPause: 20,
  /** Spans that a feed remembers by key, and spans it sends per poll. */
  liveKeys: 10_000,
  liveEventsPerPoll: 2_000,
  liveChunkRows: 100,
  liveQueuedBytes: MiB,
  /** How far back a stream may resume. */
  liveResumeMs: 600_000,
  liveResumeRows: 1_000,
  liveHeartbeatMs: 15_000,
  liveCredentialCheckMs: 10_000,
  /** A stream whose reader has taken nothing for this long is closed. */
  liveStalledMs: 120_000,
  /** Spans that ended within this time before or after now. */
  liveWindowMs: 60 * 60 * 1_000,
  /** Base64 of at least this many characters is stored apart from its span. */
  mediaChars: 64 * KiB,
  /** Contents that this node stored recently and does not send again. */
  mediaKnown: 10_000,
  mediaKnownMs: 30 * 60 * 1_000,
  /** Attributes, list elements, events, links and spans of one export. */
  otlpValues: 2_000_000,
  /** Keys and values of one OTLP/JSON body: a single attribute has six. */
  otlpJsonNodes: 6_000_000,
  otlpSliceSpans: 256,
  otlpEventsPerSpan: 256,
  otlpErrorChars: 64 * KiB,
  otlpLinksPerSpan: 128,
  /** Concurrent decorated spans per trace that are considered as parents. */
  otlpRunningSpans: 64,
  /** Log records that wait for their spans, per node. */
  otlpWaitingBytes: 256 * MiB,
  /** A younger record is not looked up in the store: its span is probably on its way to this node. */
  otlpJoinAfterMs: 1_000,
  otlpJoinEveryMs: 500,
  otlpJoinPauseMs: 60_000,
  otlpJoinBatch: 256,
  /** After this time, messages whose span never arrived are stored as a span of their own. */
  otlpJoinMs: 60 * 60 * 1_000,
  /** Messages, tool calls and parts assembled from indexed keys, per list. */
  otlpIndexedItems: 10_000,
  spanHistoryMs: 2_000,
  deletionsPerTrace: 16,
  writerGroupRows: 10_000,
  writerGroupBytes: 24 * MiB,
  writerGroupMs: 100,
  /** Since the oldest of its rows was accepted; spans become visible within a second. */
  writerBusyGroupMs: 300,
  writerSmallGroupRows: 20,
  /** The same if nobody has read for `writerReadMs` and at least `writerLargeGroupRows` rows wait. */
  writerUnreadGroupMs: 800,
  writerLargeGroupRows: 200,
  writerBufferedBytes: 64 * MiB,
  journalReplayPage: 1000,
  /** The clock skew of senders that shortcuts allow for. */
  clockSkewMs: 60 * 60 * 1_000,
  /** How long, at least, a span that is sent again with another end time is recognized. */
  identityMemoryMs: 15 * 24 * 60 * 60 * 1_000,
  writerRetryMinMs: 100,
  /** Stored spans that subscribers have not consumed; beyond it, subscribers read them back from the span store. */
  fanOutRetainedBytes: 512 * MiB,
  fanOutBufferedBytes: 64 * MiB,
  /** Approximate memory of a row without its content. */
  narrowRowBytes: 1024,
  fanOutBatchRows: 500,
  queueCapacityEveryMs: 2_000,
  fanOutRetryMinMs: 100,
  fanOutRetryMaxMs: 15_000,
  /** Deleted customers that a node remembers; beyond it, the oldest of the organization with the most are forgotten. */
  erasedCustomers: 1_000_000,
} as const;

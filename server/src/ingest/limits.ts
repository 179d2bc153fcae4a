const KiB = 1024;
const MiB = 1024 * 1024;

/** Limits of ingest, with the unit in each name. */
export const ingestLimits = {
  liveListeners: 256,
  livePollMs: 500,
  /** Spans become readable a while after they were received: so far back each poll looks for them again. */
  liveOverlapMs: 5_000,
  /** Counts find later spans. The interval of counts; `liveCountPause` is the shortest pause, as a multiple of the duration of a count. */
  liveCountMs: 10_000,
  liveCountPause: 20,
  /** Spans that a feed knows by key, and sends of one poll. */
  liveKeys: 10_000,
  liveEventsPerPoll: 2_000,
  liveChunkRows: 100,
  liveQueuedBytes: MiB,
  liveResumeMs: 600_000,
  liveResumeRows: 1_000,
  liveHeartbeatMs: 15_000,
  liveCredentialCheckMs: 10_000,
  liveStalledMs: 120_000,
  /** Spans that ended within so long of now, before or after it. */
  liveWindowMs: 60 * 60 * 1_000,
  /** Base64 of at least so many characters is stored apart from its span. */
  mediaChars: 64 * KiB,
  /** Contents that this node stored lately and does not send again. */
  mediaKnown: 10_000,
  mediaKnownMs: 30 * 60 * 1_000,
  /** Attributes, list elements, events, links and spans of one export. */
  otlpValues: 2_000_000,
  /** Keys and values of one OTLP/JSON body: an attribute alone has six. */
  otlpJsonNodes: 6_000_000,
  otlpSliceSpans: 256,
  otlpEventsPerSpan: 256,
  otlpErrorChars: 64 * KiB,
  otlpLinksPerSpan: 128,
  /** Decorated spans of one trace that may run at a time while their parents are looked for. */
  otlpRunningSpans: 64,
  /** Log records that wait for their spans, on each node. */
  otlpWaitingBytes: 256 * MiB,
  /** A record younger than this is not looked for: its span is likely under way to this very node. */
  otlpJoinAfterMs: 1_000,
  otlpJoinEveryMs: 500,
  otlpJoinPauseMs: 60_000,
  otlpJoinBatch: 256,
  /** After this time messages whose span never came are stored as a span of their own. */
  otlpJoinMs: 60 * 60 * 1_000,
  /** Messages, tool calls and parts that are put together from indexed keys, for each list. */
  otlpIndexedItems: 10_000,
  spanHistoryMs: 2_000,
  deletionsPerTrace: 16,
  writerGroupRows: 10_000,
  writerGroupBytes: 24 * MiB,
  writerGroupMs: 100,
  /** Since the oldest of its rows was accepted; spans are seen within a second. */
  writerBusyGroupMs: 300,
  writerSmallGroupRows: 20,
  /** The same where nobody has looked for `writerReadMs`, and so many rows wait. */
  writerUnreadGroupMs: 800,
  writerLargeGroupRows: 200,
  writerHeldBytes: 64 * MiB,
  journalReplayPage: 1000,
  /** How far the clocks of senders are trusted to be from ours where it saves work. */
  clockSkewMs: 60 * 60 * 1_000,
  identityMemoryMs: 15 * 24 * 60 * 60 * 1_000,
  writerRetryMinMs: 100,
  /** Stored spans that subscribers have not taken; beyond it they read them back from the span store. */
  fanOutKeptBytes: 512 * MiB,
  fanOutHeldBytes: 64 * MiB,
  /** What a row without its content takes up in memory, about. */
  narrowRowBytes: 1024,
  fanOutBatchRows: 500,
  queueRoomEveryMs: 2_000,
  fanOutRetryMinMs: 100,
  fanOutRetryMaxMs: 15_000,
  /** Deleted customers that a node remembers: of more, the oldest of the organization that has most are forgotten. */
  erasedCustomers: 1_000_000,
} as const;

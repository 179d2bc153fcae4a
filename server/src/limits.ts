import { alertLimits } from "./alert-limits.ts";
import { authLimits } from "./auth-limits.ts";
import { controlLimits } from "./control-limits.ts";
import { customerLimits } from "./customer-limits.ts";
import { evaluationLimits } from "./evaluation-limits.ts";
import { filterLimits } from "./filter-limits.ts";
import { gatewayLimits } from "./gateway-limits.ts";
import { pricingLimits } from "./pricing-limits.ts";

/**
 * Every bound of the server, unit in its name. A bound that is hit shows in a metric (docs/metrics.md).
 * Bounds that operators may set are read in config.ts and default to the value here.
 */
const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

export const limits = {
  ...alertLimits,
  ...authLimits,
  ...customerLimits,
  /** A host without a public address is refused no sooner, whatever is known of it. */
  addressRefusedMs: 250,
  ...controlLimits,
  ...evaluationLimits,
  ...filterLimits,
  ...gatewayLimits,
  ...pricingLimits,

  // HTTP
  requestBytes: 64 * MiB,
  controlBodyBytes: 1 * MiB,
  pageSizeMax: 1000,
  pageSizeDefault: 50,
  threadPageSizeDefault: 100,
  pageMax: 1_000_000,
  pageTokenChars: 4_096,
  requestIdChars: 128,
  shutdownGraceMs: 10_000,
  /** How long a connection may be silent between two requests; clients are told. */
  keepAliveMs: 72_000,
  /** What the plain lane takes, which holds a request until it is whole; all else is Node's to read. */
  plainHeadBytes: 8 * KiB,
  plainBodyBytes: 256 * KiB,
  /** A connection whose next request is not whole by then is Node's, which minds slow senders. */
  plainWaitMs: 2_000,
  plainPieces: 32,
  plainSweepMs: 1_000,
  readinessMs: 2_000,
  retentionEveryMs: 60 * 60 * 1_000,
  /** Each round rewrites parts of the tables. */
  retentionAgainMs: 24 * 60 * 60 * 1_000,
  /** Whose old rows one statement deletes. */
  retentionOrganizations: 2_000,
  deletionProgressEveryMs: 60_000,
  shutdownSweepMs: 20,
  /** What a stream has to say that the service stops, before it is cut. */
  shutdownCutMs: 1_000,
  bodyBytesInFlight: 512 * MiB,
  /** A part of it that only bodies of at most `smallBodyBytes` may use. */
  smallBodiesShare: 1 / 8,
  smallBodyBytes: 1 * MiB,
  /** Up to this part of it in use, uploads may be as slow as they like. */
  bodyBytesCalm: 1 / 4,
  slowUploadBytesPerS: 16 * KiB,
  slowUploadEveryMs: 5_000,
  bodiesUnpackedAtOnce: 4,
  bodiesUnpackedQueue: 1_000,
  requestReadMs: 300_000,
  lingerMs: 1_000,
  pathParamChars: 2048,
  compressFromBytes: 1_400,
  rateLimitStoreMs: 250,
  /** Requests that read much of the span store: under way, and waiting for their turn. */
  readsInFlight: 32,
  readsWaiting: 4_000,
  readWaitMs: 60_000,

  // Live tail
  liveListeners: 256,
  livePollMs: 500,
  /** Spans become readable a while after they were received: so far back each poll looks for them again. */
  liveOverlapMs: 5_000,
  /** Those that come later are found by counting: so often, and with a pause of so many times what it takes. */
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

  // Spans
  spanBytes: 20 * MiB,
  bulkRows: 500,
  /** Rows of one request to the legacy ingest route. */
  ingestRows: 20_000,
  spanDepth: 256,
  spanNodes: 250_000,
  /** Keys and values of one request body: parsing takes about a second a million at worst. */
  bodyNodes: 1_000_000,
  identifierChars: 254,
  nameChars: 1024,
  /** Far beyond what one span can have, and sums of them stay exact. */
  countMax: 1e12,
  costUsdMax: 1e12,
  secondsMax: 1e10,
  metadataKeys: 1024,
  metadataKeyChars: 1024,
  metadataIndexDepth: 16,
  metadataJsonChars: 8 * KiB,
  noteChars: 10_000,
  /** JSON of the metadata that one change of a span has. */
  changedMetadataChars: 64 * KiB,

  // Media
  /** Base64 of at least so many characters is stored apart from its span. */
  mediaChars: 64 * KiB,
  /** Contents that this node stored lately and does not send again. */
  mediaKnown: 10_000,
  mediaKnownMs: 30 * 60 * 1_000,
  /** Media that one read of a span may put in place of its references. */
  mediaOfSpan: 1_000,
  /** How long media stays that no span refers to: well over `mediaKnownMs`. */
  mediaUnusedMs: 2 * 60 * 60 * 1_000,
  mediaSweepEveryMs: 60 * 60 * 1_000,
  mediaSweepRows: 1_000,

  // OTLP
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

  // Traces
  /** A trace of more spans, or of more bytes of input, output and metadata, is retrieved without those. */
  fullTreeSpans: 10_000,
  fullTreeBytes: 64 * MiB,
  treeSpans: 200_000,
  /** A trace of at most so many rows and bytes is read in one statement, without knowing where it lies. */
  smallTraceRows: 2_000,
  smallTraceBytes: 16 * MiB,
  traceSpansChunk: 5_000,
  /** Without input, output and metadata. */
  slimTraceSpansChunk: 20_000,
  /** Spans of the traces of a page that are added up here rather than in the engine, which plans that for longer than it reads. */
  summedListSpans: 1_000,
  bulkDeleteTraces: 1_000,
  /** How long what hides a deleted trace stays in the table, at least. */
  traceTombstoneMs: 24 * 60 * 60 * 1_000,
  /** How long what is sent again of it stays deleted: until the hourly purge has surely taken what would hide it. */
  deletedTraceMs: 26 * 60 * 60 * 1_000,
  deletedTraces: 500_000,
  spanHistoryMs: 2_000,
  deletionsPerTrace: 16,
  traceDeletionFlushMs: 2_000,
  traceDeletionSweepEveryMs: 2_000,
  traceDeletionOverlapMs: 60_000,
  traceDeletionPurgeEveryMs: 60 * 60 * 1_000,
  traceDeletionsPage: 1_000,

  // Conversations
  /** How far before what is read a conversation is looked at: a message that was last sent earlier than that counts as new. */
  conversationLookBackDays: 7,

  // Data folder
  /** Files and folders of the data folder that are closed to other users at the start, those above first. */
  dataFolderEntries: 10_000,

  // Logs
  /** How long lines may wait to be written together, and how many characters: less than 16,384, as the library wants. */
  logLineWaitMs: 100,
  logLineChars: 8 * KiB,

  // Journal and writer
  journalBytes: 2 * GiB,
  journalEntries: 1_000_000,
  quarantineReasonChars: 4096,
  /** A journal's file is made longer by so much at a time, before it is needed. */
  journalGrowthBytes: 4 * MiB,
  /** Of its file, kept for taking entries out again on a disk that is full. */
  journalSpareBytes: MiB / 2,
  writerGroupRows: 10_000,
  writerGroupBytes: 24 * MiB,
  writerGroupMs: 100,
  /** Since the oldest of its rows was accepted; spans are seen within a second. */
  writerBusyGroupMs: 300,
  writerSmallGroupRows: 20,
  /** The same where nobody has looked for `writerReadMs`, and so many rows wait. */
  writerUnreadGroupMs: 800,
  writerLargeGroupRows: 200,
  writerReadMs: 10_000,
  readYourWriteMs: 1_000,
  writerHeldBytes: 64 * MiB,
  journalReplayPage: 1000,
  /** How far the clocks of senders are trusted to be from ours where it saves work. */
  clockSkewMs: 60 * 60 * 1_000,
  identityMemoryMs: 15 * 24 * 60 * 60 * 1_000,
  writerRetryMinMs: 100,
  writerRetryMaxMs: 5_000,

  // Fan-out
  /** Stored spans that subscribers have not taken; beyond it they read them back from the span store. */
  fanOutKeptBytes: 512 * MiB,
  fanOutHeldBytes: 64 * MiB,
  /** What a row without its content takes up in memory, about. */
  narrowRowBytes: 1024,
  fanOutBatchRows: 500,
  queueRoomEveryMs: 2_000,
  fanOutRetryMinMs: 100,
  fanOutRetryMaxMs: 15_000,

  /** Of the members that a body must not have, so many are named. */
  unknownMembersNamed: 20,

  // Webhooks
  webhooksPerOrganization: 100,
  savedViewsPerOrganization: 200,
  savedViewSearchChars: 8 * KiB,
  webhookUrlChars: 200,
  webhookNameChars: 70,
  /** A larger payload is sent without its large members. */
  webhookPayloadBytes: 1 * MiB,
  webhookMemberBytes: 8 * KiB,
  /** What may wait for one webhook; further events are not queued, which its `skipped_events` counts. */
  webhookQueueRows: 100_000,
  webhookQueueBytes: 256 * MiB,
  webhookQueueBatchRows: 250,
  webhookQueueBatchBytes: 4 * MiB,
  webhookRetryMs: 24 * 60 * 60 * 1_000,
  webhookRetryMinMs: 5_000,
  webhookRetryMaxMs: 4 * 60 * 60 * 1_000,
  webhookTimeoutMs: 10_000,
  webhookClaimMs: 30_000,
  webhookResponseBytes: 1 * KiB,
  webhookInFlight: 256,
  /** One more with each success, half as many with each failure. */
  webhookInFlightEach: 32,
  webhookInFlightFirst: 4,
  webhookInFlightFailing: 2,
  /** Claimed for a webhook that takes all it is given, beside what is under way; none while so many bytes wait for all. */
  webhookAhead: 128,
  webhookAheadBytes: 32 * MiB,
  webhookDisableAfterMs: 5 * 24 * 60 * 60 * 1_000,
  webhookSecretOverlapMs: 24 * 60 * 60 * 1_000,
  webhookSecretsOpened: 10_000,
  webhookPollEveryMs: 1_000,
  webhookPaceMs: 25,
  webhookRefreshEveryMs: 2_000,
  webhookBacklogEveryMs: 30_000,
  webhookPurgeEveryMs: 60_000,
  webhookPurgeRows: 1_000,
  /** Finished deliveries, kept for the log and for sending them again. */
  webhookLogMs: 7 * 24 * 60 * 60 * 1_000,
  webhookLogRows: 10_000,
  /** What was sent of delivered ones, and of all finished ones of a webhook in bytes. */
  webhookPayloadMs: 6 * 60 * 60 * 1_000,
  webhookKeptBytes: 64 * MiB,
  /** Traces that somebody waits to be complete. */
  traceWatchEveryMs: 1_000,
  /** Of one organization; what comes beyond is read back from the span store once half of them are complete. */
  traceWatches: 100_000,
  traceWatchClaimMs: 60_000,
  traceWatchBatch: 100,
  traceQuietSMax: 86_400,

  // Queries
  queryTimeMs: 20_000,
  queryMemoryBytes: 2 * GiB,
  queriesInFlight: 32,
  /** Reads of retention, the purge and the sweep of media: a pass over a column of a large table. */
  upkeepTimeMs: 60 * 60 * 1_000,
  upkeepInFlight: 1,
  upkeepQueued: 16,
  upkeepThreads: 2,
  queriesQueued: 512,
  embeddedQueriesInFlight: 6,
  embeddedMarkCacheBytes: 128 * MiB,
  /** That often, memory that the engine has freed goes back to the system. */
  embeddedMemoryReleaseEveryMs: 20_000,
  /** Merges are put off in a busy loop: looked at so often, from few small parts on, and until many wait. */
  mergePauseEveryMs: 1_000,
  mergePauseBusyShare: 0.5,
  mergePauseFromParts: 16,
  mergePauseMaxParts: 64,
  /** Of fewer bytes the engine makes little; with less room left on the disk none of it is taken for what is stored already. */
  insertFileBytes: 128 * KiB,
  insertFileRoomBytes: GiB,
  queryTextBytes: 256 * MiB,
  // Sums of slots (docs/adr/0033)
  /** Slots of a window that changed since the last pass; with more, its spans are read. */
  changedSlots: 1_000,
  sumsEveryMs: 20_000,
  sumsPassKnownMs: 2_000,
  /** Of fewer spans, reading them takes less than planning how sums and spans are put together. */
  sumsFromSpans: 50_000,
  /** How busy organizations are. */
  sumsBusiestKnownMs: 60_000,
  sumsBusiestOrganizations: 10_000,
  sumsMarginMs: 60_000,
  sumsOpenMs: 120_000,
  /** Longer than a portion and its pause take. */
  sumsTurnMs: 120_000,
  /** Spans of one statement, and of one slot: a larger slot is always read from its spans. */
  sumsPortionRows: 500_000,
  sumsSlotRows: 5_000_000,
  /** Of its time, that much is spent on building. */
  sumsBusyShare: 0.2,
  // MCP
  /** Of one answer; what a tool reads to make it; spans of an outline. */
  mcpAnswerBytes: 96 * KiB,
  mcpReadBytes: 16 * MiB,
  mcpOutlineSpans: 200,
  // Exports
  exportsInFlight: 4,
  exportsQueued: 32,
  exportWaitMs: 30_000,
  exportTimeMs: 60 * 60 * 1_000,
  exportMemoryBytes: GiB,
  /** A client that takes nothing for so long has lost interest. */
  exportStallMs: 60_000,
  exportBlockRows: 1_024,
  exportBlockRowsMin: 16,
  /** Smaller ones, which the engine makes by itself, cost as much again to hand on. */
  exportBlockBytes: 4 * MiB,
  exportThreads: 2,
  exportFieldsChars: 8_192,
  /** Customers of an organization. */
  exportMarkups: 100_000,
  exportRowGroupBytes: 16 * MiB,
  exportFilePollMs: 20,
  queryKillEveryMs: 50,
  queryReplyGraceMs: 10_000,
  spanInsertTimeMs: 120_000,
  spanSlicedListRows: 20_000,
  spanHttpConnections: 64,
  includeFields: 200,
  movedReadAttempts: 3,
  /** Organisations whose reads begin before it is known that they may be plain. */
  plainOrganizations: 10_000,
  /** Looks for slots of sums that changed, until rows come in. */
  rememberedLooks: 1_000,
  /** Reads that take it after a look that spans count for something else in their windows too. */
  assumedLooks: 20,
  movingTraceS: 60,
  pagePayloadBytes: 96 * MiB,
  controlBodyDepth: 64,
  controlBodyNodes: 100_000,
  groupRowsMax: 10_000,
  /** Of a time series: buckets, series beside the one of all others, and values together. */
  seriesBuckets: 1_500,
  seriesMax: 50,
  seriesPoints: 50_000,
  /** Of facets: fields, and values of each. */
  facetFields: 20,
  facetValuesMax: 100,
  /** Of longer traces the extents are kept, so that lists find all of a trace of which a part lies in their window. */
  narrowTraceS: 60,
  /** Spans of recent traces that are remembered to be counted; others are read from the store again. */
  countedSpansKept: 100_000,
  /** Of one trace: of a larger one, further spans count for what they say themselves. */
  countedTraceSpans: 500_000,
  countedBatchRows: 5_000,
  countedTracesRead: 500,
  /** Spans of which nodes stored several versions: ids of one look, how often all of late are looked through, how far back, how many. */
  dividedIdsRead: 2_000,
  dividedEveryMs: 5 * 60 * 1_000,
  dividedWithinMs: 12 * 60 * 1_000,
  dividedFound: 10_000,
  /** How often traces that name each other's calls are counted in one round. */
  countedPasses: 4,
  /** Spans of the gateway that others name before they are stored. */
  wantedGatewayCalls: 10_000,
  wantedGatewayCallMs: 60 * 60 * 1000,
} as const;

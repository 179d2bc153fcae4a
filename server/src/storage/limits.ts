const KiB = 1024;
const MiB = 1024 * 1024;
const GiB = 1024 * 1024 * 1024;
const hourMs = 60 * 60 * 1_000;

/** Limits of stores, with the unit in each name. */
export const storageLimits = {
  /** Whose old rows one statement deletes. */
  retentionOrganizations: 2_000,
  spanBytes: 20 * MiB,
  bulkRows: 500,
  /** Media that one read of a span may put in place of its references. */
  mediaOfSpan: 1_000,
  mediaSweepRows: 1_000,
  treeSpans: 200_000,
  /** A trace of at most so many rows and bytes is read in one statement, without knowing where it lies. */
  smallTraceRows: 2_000,
  smallTraceBytes: 16 * MiB,
  traceSpansChunk: 5_000,
  /** Without input, output and metadata. */
  slimTraceSpansChunk: 20_000,
  /** Spans of the traces of a page that are added up here rather than in the engine, which plans that for longer than it reads. */
  summedListSpans: 1_000,
  traceDeletionsPage: 1_000,
  /** How far before what is read a conversation is looked at: a message that was last sent earlier than that counts as new. */
  conversationLookBackDays: 7,
  /** Files and folders of the data folder that are closed to other users at the start, those above first. */
  dataFolderEntries: 10_000,
  journalBytes: 2 * GiB,
  journalEntries: 1_000_000,
  quarantineReasonChars: 4096,
  /** A journal's file is made longer by so much at a time, before it is needed. */
  journalGrowthBytes: 4 * MiB,
  /** Of its file, kept for taking entries out again on a disk that is full. */
  journalSpareBytes: MiB / 2,
  writerReadMs: 10_000,
  readYourWriteMs: 1_000,
  webhooksPerOrganization: 100,
  savedViewsPerOrganization: 200,
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
  /** Slots of a window that changed since the last pass; with more, its spans are read. */
  changedSlots: 1_000,
  sumsPassKnownMs: 2_000,
  /** Of fewer spans, reading them takes less than planning how sums and spans are put together. */
  sumsFromSpans: 50_000,
  /** How busy organizations are. */
  sumsBusiestKnownMs: 60_000,
  sumsBusiestOrganizations: 10_000,
  exportsInFlight: 4,
  exportsQueued: 32,
  exportWaitMs: 30_000,
  exportTimeMs: 60 * 60 * 1_000,
  exportMemoryBytes: GiB,
  exportBlockRows: 1_024,
  exportBlockRowsMin: 16,
  /** Smaller ones, which the engine makes by itself, cost as much again to hand on. */
  exportBlockBytes: 4 * MiB,
  exportThreads: 2,
  exportRowGroupBytes: 16 * MiB,
  exportFilePollMs: 20,
  queryKillEveryMs: 50,
  queryReplyGraceMs: 10_000,
  spanInsertTimeMs: 120_000,
  spanSlicedListRows: 20_000,
  spanHttpConnections: 64,
  movedReadAttempts: 3,
  /** Organisations whose reads begin before it is known that they may be plain. */
  plainOrganizations: 10_000,
  /** Looks for slots of sums that changed, until rows come in. */
  rememberedLooks: 1_000,
  /** Reads that take it after a look that spans count for something else in their windows too. */
  assumedLooks: 20,
  movingTraceS: 60,
  pagePayloadBytes: 96 * MiB,
  groupRowsMax: 10_000,
  /** Of longer traces the extents are kept, so that lists find all of a trace of which a part lies in their window. */
  narrowTraceS: 60,
  /** Of one trace: of a larger one, further spans count for what they say themselves. */
  countedTraceSpans: 500_000,
  alertsPerOrganization: 200,
  alertTogetherWindowMs: hourMs,
  alertHistoryRows: 1_000,
  apiKeysPerOrganization: 1_000,
  temporaryKeysPerUser: 100,
  sessionsPerUser: 100,
  invitationsPerOrganization: 1_000,
  auditEntriesPerOrganization: 100_000,
  controlBusyMs: 10_000,
  controlBusyRetryMs: 20,
  controlConnections: 10,
  controlConnectMs: 5_000,
  controlQueryMs: 30_000,
  /** A connection whose server has not answered by then is given up. */
  controlSilenceMs: 35_000,
  controlPingEveryMs: 1_000,
  /** After that long without an answer what was read before is used, and a ping that takes longer is an outage. */
  controlPatienceMs: 2_000,
  /** By how much the clock of a node may differ from the control store's: before it is corrected, warns, leads no more, and is refused. */
  clockSlackMs: 500,
  clockSkewWarnMs: 2_000,
  clockSkewLeadMs: 30_000,
  clockSkewMaxMs: 5 * 60_000,
  clockMeasureEveryMs: 60_000,
  /** Statements that stay compiled; longer ones are not kept. */
  controlStatements: 300,
  controlStatementChars: 4_096,
  /** How long a call whose reservation was given back can still be settled. */
  customerReservationKeptMs: 24 * 60 * 60 * 1_000,
  customerErasuresPage: 1_000,
  /** Within what time every node that works has heard of a deletion. */
  erasureHeardMs: 60_000,
  conditionsPerOrganization: 1_000,
  evaluatorsPerOrganization: 1_000,
  versionsPerEvaluator: 100,
  automationsPerOrganization: 200,
  evaluationErrorChars: 2_000,
  providerSettings: 200,
  /** Files of records that are not in the journal yet; more wait in memory alone. */
  callSpoolBytes: 256 * MiB,
  /** Of one organization, that `prices check` lists. */
  unpricedModels: 1_000,
  repricedStatementChars: 80_000,
  /** Loaded price tables that are kept, earlier ones to go back to. */
  priceTables: 5,
  /** Of a copy of the span store to a server, what goes into one insert. */
  copyBatchBytes: 16 * 2 ** 20,
} as const;

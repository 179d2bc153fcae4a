const KiB = 1024;
const MiB = 1024 * 1024;
const GiB = 1024 * 1024 * 1024;
const hourMs = 60 * 60 * 1_000;

/** Limits of stores, with the unit in each name. */
export const storageLimits = {
  /** Organizations whose old rows one statement deletes. */
  retentionOrganizations: 2_000,
  /** Retention leaves younger edits to a later round: a replica that lags may not have their spans yet. */
  editMarginMs: hourMs,
  /** The body of one span. */
  spanBytes: 20 * MiB,
  bulkRows: 500,
  /** Media references of a span that one read may resolve. */
  mediaOfSpan: 1_000,
  mediaSweepRows: 1_000,
  /**
   * How long the key and the revision of a deleted score are kept: a node whose clock is behind, which it notices within
   * a minute, gives the next score of this key a higher revision.
   */
  deletedScoreMs: 2 * 60 * 1_000,
  /** Spans in the tree of a trace; further ones are left out. */
  treeSpans: 200_000,
  /** Traces up to this many rows and bytes are read in one statement, without locating them first. */
  smallTraceRows: 2_000,
  smallTraceBytes: 16 * MiB,
  traceSpansChunk: 5_000,
  /** Spans per chunk if input, output and metadata are left out. */
  slimTraceSpansChunk: 20_000,
  /**
   * Up to this many spans, the traces of a page are summed here rather than in the engine, where planning would take
   * longer than reading.
   */
  summedListSpans: 1_000,
  /** Up to this place, the traces of a list by time are found from the newest span on. */
  newestTraces: 1_000,
  traceDeletionsPage: 1_000,
  /**
   * How far back a read looks for earlier messages of a conversation: a message last sent before that counts as new.
   */
  conversationLookBackDays: 7,
  /** Files and folders of the data folder that are closed to other users at the start, upper folders first. */
  dataFolderEntries: 10_000,
  /** The default of `SPANWAY_JOURNAL_MAX_BYTES`. */
  journalBytes: 2 * GiB,
  /** Requests in the journal whose spans are not stored yet. */
  journalEntries: 1_000_000,
  quarantineReasonChars: 4096,
  /** The step by which a journal's file grows, before the room is needed. */
  journalGrowthBytes: 4 * MiB,
  /** Reserve in the file for removing entries on a full disk. */
  journalSpareBytes: MiB / 2,
  /**
   * What a journal leaves free on a disk whose file system copies on write (Btrfs, ZFS). Transactions that reuse pages of
   * the file may take a quarter of it, removals half.
   */
  journalDiskReserveBytes: 64 * MiB,
  writerReadMs: 10_000,
  readYourWriteMs: 1_000,
  webhooksPerOrganization: 100,
  savedViewsPerOrganization: 200,
  /** How long a query may run. */
  queryTimeMs: 20_000,
  /** Memory of one query. */
  queryMemoryBytes: 2 * GiB,
  /** Queries that a node runs at a time on a ClickHouse server. */
  queriesInFlight: 32,
  /** Reads of retention, the purge, the sweep of media and the building of sums: some pass over a column of a large table. */
  upkeepTimeMs: 60 * 60 * 1_000,
  /** Such reads that run at a time, that wait, and the threads of each. */
  upkeepInFlight: 2,
  upkeepQueued: 16,
  upkeepThreads: 2,
  /** Queries that wait on a node. Further ones are refused with 503. */
  queriesQueued: 512,
  /** Queries that run at a time in the embedded store. */
  embeddedQueriesInFlight: 6,
  embeddedMarkCacheBytes: 128 * MiB,
  /** Decompressed blocks that reads keep for the next ones: rows of a page share blocks of 2 MiB with their neighbours. */
  embeddedBlockCacheBytes: 64 * MiB,
  /** How often memory that the engine has freed is returned to the system. */
  embeddedMemoryReleaseEveryMs: 20_000,
  /**
   * Merges pause while the event loop is busy: checked this often, started with at most this many small parts, ended
   * above the maximum.
   */
  mergePauseEveryMs: 1_000,
  mergePauseBusyShare: 0.5,
  mergePauseFromParts: 16,
  mergePauseMaxParts: 64,
  /**
   * Smaller inserts pass their rows in the text of the statement, as do all if less than this room would be left on the
   * disk.
   */
  insertFileBytes: 128 * KiB,
  insertFileRoomBytes: GiB,
  queryTextBytes: 256 * MiB,
  /** Slots of a window that changed since the last pass; above this, the spans are read instead. */
  changedSlots: 1_000,
  sumsPassKnownMs: 2_000,
  /** With fewer spans, reading them takes less time than planning how to combine sums and spans. */
  sumsFromSpans: 50_000,
  /** How long the size of an organization's busiest slot is remembered. */
  sumsBusiestKnownMs: 60_000,
  sumsBusiestOrganizations: 10_000,
  /** Exports that a node runs at a time. */
  exportsInFlight: 4,
  /** Exports that wait. Further ones are refused with 503. */
  exportsQueued: 32,
  /** How long an export may wait. */
  exportWaitMs: 30_000,
  /** How long an export may run. */
  exportTimeMs: 60 * 60 * 1_000,
  /** Memory of one export. */
  exportMemoryBytes: GiB,
  /** Rows of a block. With 1,024, an export takes 250 to 310 MB of memory. */
  exportBlockRows: 256,
  /** Blocks of 256 rows take a third more time as CSV. */
  exportCsvBlockRows: 512,
  exportBlockRowsMin: 16,
  /** Smaller blocks, the engine's default, double the cost of passing them on. */
  exportBlockBytes: 4 * MiB,
  exportThreads: 2,
  /** The description of each row group stays in memory until the end of the file. */
  exportRowGroupBytes: 16 * MiB,
  /** The engine collects this much before it encodes it as Parquet; its default is 256 MiB. */
  exportEncodeBytes: MiB,
  exportFilePollMs: 20,
  queryKillEveryMs: 50,
  queryReplyGraceMs: 10_000,
  /** How long a ClickHouse server may take to respond to a write. */
  spanInsertTimeMs: 120_000,
  /** How long statements on a ClickHouse server may still run when the store is closed. */
  spanCloseGraceMs: 5_000,
  spanSlicedListRows: 20_000,
  /** Connections of a node to a ClickHouse server for queries. */
  spanHttpConnections: 64,
  movedReadAttempts: 3,
  /** Organizations that are remembered as having no resends or counts, so that their reads need no probe query. */
  plainOrganizations: 10_000,
  /** Remembered probe queries for changed slots of sums, until rows come in. */
  cachedProbes: 1_000,
  /** Reads after a probe query that assume, without another one, that their windows also contain stored counts. */
  assumedProbes: 20,
  movingTraceS: 60,
  pagePayloadBytes: 96 * MiB,
  groupRowsMax: 10_000,
  /** The extents of longer traces are stored, so that lists find the whole trace if a part of it is in their window. */
  narrowTraceS: 60,
  /** Spans of one trace; beyond this, further spans count as they report themselves. */
  countedTraceSpans: 500_000,
  alertsPerOrganization: 200,
  alertTogetherWindowMs: hourMs,
  alertHistoryRows: 1_000,
  apiKeysPerOrganization: 1_000,
  temporaryKeysPerUser: 100,
  sessionsPerUser: 100,
  invitationsPerOrganization: 1_000,
  auditEntriesPerOrganization: 100_000,
  /** How long a statement waits for a lock of SQLite. */
  controlBusyMs: 10_000,
  controlBusyRetryMs: 20,
  /** Connections of a node to Postgres. */
  controlConnections: 10,
  /** How long a connection to Postgres may take. */
  controlConnectMs: 5_000,
  /** How long a statement, or a pause within a transaction, may take in Postgres. */
  controlQueryMs: 30_000,
  /** A connection whose server has not responded by then is closed. */
  controlSilenceMs: 35_000,
  /** How often a read of Postgres is tried if its connection is dropped. */
  controlReadTries: 3,
  controlRetryMs: 100,
  /** How often a node checks that the control store responds. */
  controlPingEveryMs: 1_000,
  /** After this time without a response, values read before are used; a ping that takes longer is an outage. */
  controlPatienceMs: 2_000,
  /**
   * Skew of a node's clock against the control store's from which it is corrected, logs a warning, may not lead, and is
   * refused.
   */
  clockSlackMs: 500,
  clockSkewWarnMs: 2_000,
  clockSkewLeadMs: 30_000,
  clockSkewMaxMs: 5 * 60_000,
  /** How often the skew is measured. */
  clockMeasureEveryMs: 60_000,
  /** Statements that stay compiled, except longer ones. */
  controlStatements: 300,
  controlStatementChars: 4_096,
  /** How long a call can still be settled after its reservation was released. */
  customerReservationRetentionMs: 24 * 60 * 60 * 1_000,
  customerErasuresPage: 1_000,
  /** The time within which every working node knows of a deletion. */
  erasureObservedMs: 60_000,
  conditionsPerOrganization: 1_000,
  evaluatorsPerOrganization: 1_000,
  versionsPerEvaluator: 100,
  automationsPerOrganization: 200,
  evaluationErrorChars: 2_000,
  providerSettings: 200,
  /** Size of the files of records that are not in the journal yet; more are only in memory. */
  callSpoolBytes: 256 * MiB,
  /** Unpriced models of one organization that `prices check` lists. */
  unpricedModels: 1_000,
  repricedStatementChars: 80_000,
  /** Loaded price tables that are retained, including earlier ones to go back to. */
  priceTables: 5,
  /** Bytes per insert when the span store is copied to a server. */
  copyBatchBytes: 16 * 2 ** 20,
} as const;

const KiB = 1024;
const MiB = 1024 * 1024;

/** Limits of automations and judges, with the unit in each name. */
export const evaluationLimits = {
  /** Beyond it no result that comes over OTLP makes another. */
  evaluatorsMadeByName: 500,
  evaluationRunsInFlight: 512,
  evaluationRunsPerOrganization: 256,
  /** Of them, whose logs are in memory at a time. */
  evaluationReadRows: 64,
  judgesInFlight: 64,
  judgesPerOrganization: 8,
  /** All runs that are under way may, and as many that are asked for on demand. */
  judgesWaiting: 1_024,
  judgeMs: 60_000,
  /** Of one value in a judge's prompt; what is longer is cut. */
  judgeValueChars: 100_000,
  judgePromptChars: 400_000,
  /** Of all media that a judge is shown, in base64; what is more is named only. */
  judgeMediaChars: 8 * MiB,
  /** Shorter base64 is text to a judge. */
  judgeMediaCharsMin: 1 * KiB,
  judgeMedia: 20,
  /** Judgements whose media is in memory at a time. */
  judgesWithMedia: 8,
  /** Of what a model said that refuses media. */
  judgeRefusalChars: 200,
  evaluationInputChars: 4 * MiB,
  /** How long a node may be silent before another takes over its evaluations. */
  evaluationLeaseMs: 60_000,
  /** Waits between tries of an evaluation that failed for now; then it has failed. */
  evaluationRetryMs: [1_000, 10_000, 60_000],
  /** An evaluation that was under way when its node ended, that often, has failed. */
  evaluationCrashes: 4,
  /** Runs retried at a time after their node ended once while they ran. After a second end, each is retried alone. */
  evaluationSuspects: 16,
  evaluationPollMs: 1_000,
  /** What may wait of one organization; further logs are read back from the span store once half of it is done. */
  evaluationQueueRuns: 100_000,
  /** New runs a second beyond which evaluating pauses between batches, for the sake of ingest. */
  evaluationCrowdRuns: 1_000,
  evaluationYieldMs: 1_000,
  /** How long a result waits for others, to be put on record together. */
  evaluationFlushMs: 200,
  evaluationFlushRows: 256,
  /** Beyond it the backlog is not counted any further. */
  evaluationBacklogCounted: 100_000,
  /** How long it is known that a log was evaluated. */
  evaluationMemoryMs: 30 * 24 * 60 * 60 * 1_000,
  automationRefreshMs: 5_000,
  automationDailyBudgetUsd: 10,
  sandboxThreads: 4,
  sandboxQueued: 1_000,
  sandboxMs: 1_000,
  sandboxGraceMs: 10_000,
  sandboxMemoryBytes: 48 * MiB,
  sandboxStackBytes: 256 * KiB,
  scoreTextChars: 64 * KiB,
  scoreMax: 1e15,
  /** Made of the results of evaluations that a span came with. */
  scoresSentPerSpan: 64,
  scoreMirrorRows: 2_000,
  scoreMirrorGroupMs: 50,
  scoreMirrorEveryMs: 5_000,
  scoreMirrorRetryMs: 1_000,
} as const;

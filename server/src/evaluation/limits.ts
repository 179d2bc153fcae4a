const KiB = 1024;
const MiB = 1024 * 1024;

/** Limits of automations and judges, with the unit in each name. */
export const evaluationLimits = {
  /** Above this number, results that arrive over OTLP create no further evaluators. */
  evaluatorsMadeByName: 500,
  evaluationRunsInFlight: 512,
  evaluationRunsPerOrganization: 256,
  /** Runs in flight whose logs are in memory at a time. */
  evaluationReadRows: 64,
  judgesInFlight: 64,
  judgesPerOrganization: 8,
  /** Enough for all runs in flight, and as many requested on demand. */
  judgesWaiting: 1_024,
  judgeMs: 60_000,
  /** Characters of one value in a judge's prompt; longer values are truncated. */
  judgeValueChars: 100_000,
  judgePromptChars: 400_000,
  /** Total base64 characters of the media for a judge; further media is only named. */
  judgeMediaChars: 8 * MiB,
  /** Shorter base64 is treated as text. */
  judgeMediaCharsMin: 1 * KiB,
  judgeMedia: 20,
  /** Judgements whose media is in memory at a time. */
  judgesWithMedia: 8,
  /** Characters of a model's refusal of media. */
  judgeRefusalChars: 200,
  evaluationInputChars: 4 * MiB,
  /** How long a node may be silent before another takes over its evaluations. */
  evaluationLeaseMs: 60_000,
  /** Delays before an evaluation is retried after a transient failure. After the last one, the failure is final. */
  evaluationRetryMs: [1_000, 10_000, 60_000],
  /** An evaluation that was in flight this often when its node ended has failed. */
  evaluationCrashes: 4,
  /** Runs retried at a time after their node ended once while they ran. After a second end, each is retried alone. */
  evaluationSuspects: 16,
  evaluationPollMs: 1_000,
  /** Waiting runs of one organization; further logs are read back from the span store once half of them are done. */
  evaluationQueueRuns: 100_000,
  /** Above this number of new runs per second, evaluation pauses between batches, to leave room for ingest. */
  evaluationCrowdRuns: 1_000,
  evaluationYieldMs: 1_000,
  /** How long a result waits for others, to be stored together. */
  evaluationFlushMs: 200,
  evaluationFlushRows: 256,
  /** Above this number, the backlog is not counted exactly. */
  evaluationBacklogCounted: 100_000,
  /** How long an evaluated log is remembered. */
  evaluationMemoryMs: 30 * 24 * 60 * 60 * 1_000,
  automationRefreshMs: 5_000,
  /** After a start, automations that were enabled so shortly before are applied from that time on. */
  automationCatchUpMs: 10 * 60 * 1_000,
  automationDailyBudgetUsd: 10,
  sandboxThreads: 4,
  sandboxQueued: 1_000,
  sandboxMs: 1_000,
  sandboxGraceMs: 10_000,
  sandboxMemoryBytes: 48 * MiB,
  sandboxStackBytes: 256 * KiB,
  scoreTextChars: 64 * KiB,
  scoreMax: 1e15,
  /** Scores made from the evaluation results on a span. */
  scoresSentPerSpan: 64,
  scoreReplicationRows: 2_000,
  scoreReplicationGroupMs: 50,
  scoreReplicationEveryMs: 5_000,
  scoreReplicationRetryMs: 1_000,
} as const;

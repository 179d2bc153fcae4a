const KiB = 1024;
const MiB = 1024 * 1024;

/** Limits of webhooks, with the unit in each name. */
export const deliveryLimits = {
  webhookUrlChars: 200,
  /** A larger payload is sent without its large members. */
  webhookPayloadBytes: 1 * MiB,
  webhookMemberBytes: 8 * KiB,
  /** The queue of one webhook. Further events are dropped and counted in its `skipped_events`. */
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
  /** Attempts in flight of one webhook: one more with each success, half as many with each failure. */
  webhookInFlightEach: 32,
  webhookInFlightFirst: 4,
  webhookInFlightFailing: 2,
  /**
   * Deliveries claimed ahead for a webhook that takes everything, in addition to those in flight, and the bytes of all
   * of them on a node.
   */
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
  /** Finished deliveries that are retained for the log and for resending. */
  webhookLogMs: 7 * 24 * 60 * 60 * 1_000,
  webhookLogRows: 10_000,
  /**
   * How long payloads of successful deliveries are retained, and the bytes retained of all finished ones of a webhook.
   */
  webhookPayloadMs: 6 * 60 * 60 * 1_000,
  webhookKeptBytes: 64 * MiB,
  /** Traces that webhooks wait to be complete. */
  traceWatchEveryMs: 1_000,
  /** Watches of one organization. Further traces are read back from the span store once half of these are complete. */
  traceWatches: 100_000,
  traceWatchClaimMs: 60_000,
  traceWatchBatch: 100,
  traceQuietSMax: 86_400,
  /** Webhook payloads that are searched at a time for a deleted customer. */
  erasedPayloadsPage: 200,
} as const;

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
  /** How long a delivery is retried after it was queued or resent. Then it has failed. */
  webhookRetryMs: 24 * 60 * 60 * 1_000,
  /** The delay after the first failure. It triples with each further failure. */
  webhookRetryMinMs: 5_000,
  /** The longest delay between attempts, also if the receiver's `Retry-After` is longer. */
  webhookRetryMaxMs: 4 * 60 * 60 * 1_000,
  /** How long one attempt may take, up to the end of the response. */
  webhookTimeoutMs: 10_000,
  /** How long claimed deliveries belong to a node. If the node dies, they are due again after this time. */
  webhookClaimMs: 30_000,
  /** Bytes of a response, or characters of an error, that the log of deliveries stores. */
  webhookResponseBytes: 1 * KiB,
  /** Attempts in flight on a node, of all webhooks. */
  webhookInFlight: 256,
  /** Attempts in flight of one webhook: one more with each success, half as many with each failure. */
  webhookInFlightEach: 32,
  /** The number for a new webhook. */
  webhookInFlightFirst: 4,
  /** The least number, however many attempts of the webhook fail. */
  webhookInFlightFailing: 2,
  /**
   * Deliveries claimed ahead for a webhook that takes everything, in addition to those in flight, and the bytes of all
   * of them on a node.
   */
  webhookAhead: 128,
  webhookAheadBytes: 32 * MiB,
  /** A webhook that has failed for this long, without a success, is switched off. */
  webhookDisableAfterMs: 5 * 24 * 60 * 60 * 1_000,
  /** How long the previous secret also signs after a rotation. */
  webhookSecretOverlapMs: 24 * 60 * 60 * 1_000,
  webhookSecretsOpened: 10_000,
  /** How often a node checks the queue for due deliveries of all nodes. It sends its own without a check. */
  webhookPollEveryMs: 1_000,
  webhookPaceMs: 25,
  /** How often a node reads the webhooks again, and so learns what other nodes changed. */
  webhookRefreshEveryMs: 2_000,
  webhookBacklogEveryMs: 30_000,
  webhookPurgeEveryMs: 60_000,
  webhookPurgeRows: 1_000,
  /** How long finished deliveries are retained for the log and for resending. */
  webhookLogMs: 7 * 24 * 60 * 60 * 1_000,
  /** How many finished deliveries of one webhook are retained, besides those of the last `webhookDedupeMs`. */
  webhookLogRows: 10_000,
  /** An event that is published again within this time, such as by the node that received a resend, is not sent again. */
  webhookDedupeMs: 5 * 60 * 1_000,
  /**
   * How long payloads of successful deliveries are retained, and the bytes retained of all finished ones of a webhook.
   */
  webhookPayloadMs: 6 * 60 * 60 * 1_000,
  webhookRetainedBytes: 64 * MiB,
  /** How often a node checks whether traces that webhooks wait for are complete. */
  traceWatchEveryMs: 1_000,
  /** Watches of one organization. Further traces are read back from the span store once half of these are complete. */
  traceWatches: 100_000,
  traceWatchClaimMs: 60_000,
  traceWatchBatch: 100,
  /** The maximum of `SPANWAY_TRACE_QUIET_SECONDS`. */
  traceQuietSMax: 86_400,
  /** Webhook payloads that are searched at a time for a deleted customer. */
  erasedPayloadsPage: 200,
} as const;

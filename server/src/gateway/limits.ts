const KiB = 1024;
const MiB = 1024 * 1024;

/** Limits of the gateway, with the unit in each name. */
export const gatewayLimits = {
  /** Retries of each model if the caller does not set them. */
  defaultRetries: 2,
  /** Models that one call may name. */
  modelsPerCall: 32,
  /** The longest wait before a retry. If a provider requests more, the next model is tried. */
  retryWaitMs: 30_000,
  /** No attempt of a call begins later than this after the call's arrival. */
  routeDeadlineMs: 300_000,
  /** Credentials whose failures a node remembers. */
  coolingCredentials: 10_000,
  /** Consecutive failures after which a credential cools down. */
  failuresBeforeCoolDown: 3,
  /** The first cool-down. It doubles with each further failure. */
  coolDownMs: 1_000,
  /** The longest cool-down, also if a provider requests more. */
  coolDownMaxMs: 60_000,
  /** The cool-down of a credential that the provider refuses. */
  deadCredentialMs: 30_000,
  /** A cool-down up to this long is waited for if there is nothing else to try. */
  coolDownWaitMs: 2_000,
  /** How long others wait for the one call that tries a credential again. */
  probeMs: 10_000,
  cataloguedModels: 10_000,
  credentialChars: 16 * KiB,
  cachedProviderSettings: 5_000,
  /** How many stored credentials are opened at start to check that the secret key is still the same. */
  settingsCheckedAtStart: 1_000,
  cachedProviderSettingMs: 5_000,
  /** Larger answers are not cached. */
  cacheEntryBytes: 1 * MiB,
  /** Cached answers in the memory of a node, if there is no Redis or Valkey. */
  cacheMemoryBytes: 64 * MiB,
  cacheMemoryEntries: 20_000,
  /** How long an answer is cached if the call does not say. */
  cacheTtlDefaultMs: 30 * 24 * 60 * 60 * 1_000,
  /** The longest time that a call may set. */
  cacheTtlMaxMs: 365 * 24 * 60 * 60 * 1_000,
  /** Credentials of a model for which the cache is looked up. */
  cacheKeysPerCall: 8,
  cacheReadMs: 100,
  cacheReadsInFlight: 1_000,
  cacheWriteBytesInFlight: 64 * MiB,
  /** One event of an upstream's stream. */
  upstreamEventBytes: 16 * MiB,
  /** Attempts that the span of a call lists, if one of them failed. */
  recordedAttempts: 16,
  /** Keys that are tried for a response whose id does not name its key. */
  responseKeysPerCall: 16,
  /** Response ids whose creator a node remembers, and for how long. */
  responseOwners: 20_000,
  responseOwnerMs: 60 * 60_000,
  recordedAttemptChars: 512,
  /** Characters of an upstream's error message that are reported. */
  upstreamMessageChars: 4096,
  /** Size of a recording to transcribe; OpenAI's limit. */
  audioFileBytes: 25 * MiB,
  formFields: 256,
  formFieldBytes: 1 * MiB,
  /** One complete response of an upstream. */
  upstreamReplyBytes: 64 * MiB,
  /** Bytes buffered before the first content of a stream. Beyond them the stream is forwarded without content. */
  bufferedStreamBytes: 256 * KiB,
  /** How long the end of a stream may take after all relevant data has arrived. */
  upstreamTrailMs: 1_000,
  /** Span ids that calls chose, and how long they are remembered: no later call replaces the span of another. */
  callIdentities: 50_000,
  callIdentityMs: 24 * 60 * 60 * 1_000,
  /** How long `stream_options` is left out for an upstream that does not know it. */
  usageRefusalMs: 60 * 60 * 1_000,
  /** Recorded text of one response; the rest is forwarded but not part of the span. */
  recordedChars: 4 * MiB,
  recordedChoices: 128,
  recordedToolCalls: 1_024,
  /** Spans of finished calls that wait for the journal. At either limit no further calls are accepted. */
  recordsWaiting: 20_000,
  recordBytesWaiting: 256 * MiB,
  /** How long a finished call waits for others, so that many share one journal entry. */
  recordBatchMs: 50,
  /** Spans of calls that are made in one turn of the event loop. */
  recordBatch: 250,
  /** Small compared with the journal's capacity: the journal must have room for the whole batch. */
  recordBatchChars: 4 * MiB,
  /** Batches that the journal may commit as one. */
  recordBatchesTogether: 8,
  recordRetryMinMs: 100,
  recordRetryMaxMs: 5_000,
  recordDrainPollMs: 5,
  /** How long a start waits until the journal has the records of an earlier process. */
  recordsRecallMs: 5_000,
  recordsRecalledTogether: 200,
  /** Items of a list, or members of an object, within one service parameter. */
  serviceParamItems: 256,
} as const;

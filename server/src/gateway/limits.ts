const KiB = 1024;
const MiB = 1024 * 1024;

/** Limits of the gateway, with the unit in each name. */
export const gatewayLimits = {
  /** Retries of each model where the caller says nothing. */
  defaultRetries: 2,
  modelsPerCall: 32,
  retryWaitMs: 30_000,
  /** No attempt of a call begins later than this after its arrival. */
  routeDeadlineMs: 300_000,
  coolingCredentials: 10_000,
  failuresBeforeCoolDown: 3,
  coolDownMs: 1_000,
  coolDownMaxMs: 60_000,
  deadCredentialMs: 30_000,
  /** A cool-down this short is waited out where there is nothing else to try. */
  coolDownWaitMs: 2_000,
  /** How long others wait for the one call that tries a credential again. */
  probeMs: 10_000,
  cataloguedModels: 10_000,
  credentialChars: 16 * KiB,
  cachedProviderSettings: 5_000,
  /** Of stored credentials, how many are opened at start to find out whether the secret key is still the one of before. */
  settingsCheckedAtStart: 1_000,
  cachedProviderSettingMs: 5_000,
  /** An answer that is larger is not kept. */
  cacheEntryBytes: 1 * MiB,
  cacheMemoryBytes: 64 * MiB,
  cacheMemoryEntries: 20_000,
  cacheTtlDefaultMs: 30 * 24 * 60 * 60 * 1_000,
  cacheTtlMaxMs: 365 * 24 * 60 * 60 * 1_000,
  /** Credentials of a model whose answers are looked for. */
  cacheKeysPerCall: 8,
  cacheReadMs: 100,
  cacheReadsInFlight: 1_000,
  cacheWriteBytesInFlight: 64 * MiB,
  /** One event of an upstream's stream. */
  upstreamEventBytes: 16 * MiB,
  /** Attempts that the span of a call lists, if one of them failed. */
  recordedAttempts: 16,
  /** Keys that are asked for a response whose id does not say which one made it. */
  responseKeysPerCall: 16,
  /** Ids of responses of which a node remembers who made them, and for how long. */
  responseOwners: 20_000,
  responseOwnerMs: 60 * 60_000,
  /** Of larger requests nothing is written of the record before they end: it would lie in memory as long as they take. */
  draftedBodyBytes: 64 * KiB,
  recordedAttemptChars: 512,
  /** What of an upstream's error is told. */
  upstreamMessageChars: 4096,
  /** A recording to transcribe, as OpenAI bounds it. */
  audioFileBytes: 25 * MiB,
  formFields: 256,
  formFieldBytes: 1 * MiB,
  /** A whole answer of an upstream. */
  upstreamReplyBytes: 64 * MiB,
  /** Bytes held back before the first content of a stream. Beyond them the stream is forwarded without content. */
  heldStreamBytes: 256 * KiB,
  /** How long the end of a stream may take after all that matters has come. */
  upstreamTrailMs: 1_000,
  /** Ids of spans that calls named for theirs, and how long they are remembered: no later call replaces the span of another. */
  callIdentities: 50_000,
  callIdentityMs: 24 * 60 * 60 * 1_000,
  /** How long an upstream that does not know `stream_options` is not asked with it. */
  usageRefusalMs: 60 * 60 * 1_000,
  /** Text of one answer that is recorded; more is passed on and left out of the span. */
  recordedChars: 4 * MiB,
  recordedChoices: 128,
  recordedToolCalls: 1_024,
  /** Spans of finished calls that wait for the journal; at either bound no further calls are taken. */
  recordsWaiting: 20_000,
  recordBytesWaiting: 256 * MiB,
  /** How long a finished call waits for others, so that many are one entry of the journal. */
  recordBatchMs: 50,
  recordBatch: 500,
  /** Batches that the journal may commit as one. */
  recordBatchesTogether: 8,
  /** Small beside the room of a journal, which must have room for all of it at once. */
  recordBatchBytes: 4 * MiB,
  recordRetryMinMs: 100,
  recordRetryMaxMs: 5_000,
  recordDrainPollMs: 5,
  /** How long a start waits until the journal has what an earlier process left of them. */
  recordsRecallMs: 5_000,
  /** Items of a list, or members of an object, within one service parameter. */
  serviceParamItems: 256,
} as const;

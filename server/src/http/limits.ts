const KiB = 1024;
const MiB = 1024 * 1024;

/** Limits of the HTTP server, with the unit in each name. */
export const httpLimits = {
  requestBytes: 64 * MiB,
  controlBodyBytes: 1 * MiB,
  pageSizeMax: 1000,
  pageMax: 1_000_000,
  requestIdChars: 128,
  shutdownGraceMs: 10_000,
  /** How long a connection may be idle between two requests; sent to clients in `keep-alive`. */
  keepAliveMs: 72_000,
  /** Limits of the fast path, which buffers a request until it is complete; Node reads everything larger. */
  plainHeadBytes: 8 * KiB,
  plainBodyBytes: 256 * KiB,
  /** A connection whose next request is incomplete after this time goes to Node, which handles slow senders. */
  plainWaitMs: 2_000,
  plainPieces: 32,
  plainSweepMs: 1_000,
  shutdownSweepMs: 20,
  /** How long a stream may still write after it was notified of the shutdown, before its connection is closed. */
  shutdownAbortMs: 1_000,
  bodyBytesInFlight: 512 * MiB,
  /** The part of it that only bodies of at most `smallBodyBytes` may use. */
  smallBodiesShare: 1 / 8,
  smallBodyBytes: 1 * MiB,
  /** Up to this part in use, uploads may be arbitrarily slow. */
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
  /** Requests that read much of the span store: running, and queued. */
  readsInFlight: 32,
  readsWaiting: 4_000,
  readWaitMs: 60_000,
  nameChars: 1024,
  /** The maximum number of unknown members that an error names. */
  unknownMembersNamed: 20,
  includeFields: 200,
  controlBodyDepth: 64,
  controlBodyNodes: 100_000,
  /** The maximum number of session ids of one request that are looked up. */
  sessionCookies: 4,
} as const;

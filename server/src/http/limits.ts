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
  /** How long a connection may be silent between two requests; clients are told. */
  keepAliveMs: 72_000,
  /** What the plain lane takes, which holds a request until it is whole; all else is Node's to read. */
  plainHeadBytes: 8 * KiB,
  plainBodyBytes: 256 * KiB,
  /** A connection whose next request is not whole by then is Node's, which minds slow senders. */
  plainWaitMs: 2_000,
  plainPieces: 32,
  plainSweepMs: 1_000,
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
  nameChars: 1024,
  /** Of the members that a body must not have, so many are named. */
  unknownMembersNamed: 20,
  includeFields: 200,
  controlBodyDepth: 64,
  controlBodyNodes: 100_000,
  /** Of one request, that are looked up. */
  sessionCookies: 4,
} as const;

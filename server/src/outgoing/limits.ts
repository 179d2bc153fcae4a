const KiB = 1024;

/** Limits of outgoing connections, with the unit in each name. */
export const outgoingLimits = {
  /** The minimum delay before a host without a public address is refused, however fast that is known. */
  addressRefusedMs: 250,
  upstreamOrigins: 256,
  /** The number of cached parsed URLs. */
  upstreamUrls: 1_024,
  upstreamConnections: 4_096,
  upstreamConnectMs: 10_000,
  /** The maximum of the configurable upstream timeouts: what a timer can hold. */
  upstreamMsMax: 2_147_483_647,
  upstreamKeepAliveMs: 15_000,
  /** An end of the connection after this time is not one of an idle connection: the server may have had the call. */
  upstreamIdleEndMs: 100,
  /** The same for a reset, which is a reply to the request: it takes a round trip, and longer if a packet was lost. */
  upstreamIdleResetMs: 1_000,
  upstreamIdleSweepMs: 1_000,
  /** Status line and headers of a response, its trailers, or all of its provisional (1xx) responses. */
  upstreamHeadBytes: 64 * KiB,
  upstreamHeaderLines: 512,
  /** Size and extensions of one chunk. */
  upstreamChunkLineBytes: 4 * KiB,
  /**
   * After a read of at least this size, the connection pauses until the next turn of the event loop: a TLS record is no
   * larger.
   */
  upstreamTurnBytes: 16 * KiB,
} as const;

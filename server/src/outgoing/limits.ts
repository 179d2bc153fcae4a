const KiB = 1024;

/** Limits of outgoing connections, with the unit in each name. */
export const outgoingLimits = {
  /** A host without a public address is refused no sooner, whatever is known of it. */
  addressRefusedMs: 250,
  upstreamOrigins: 256,
  /** Addresses of which the parts are remembered. */
  upstreamUrls: 1_024,
  upstreamConnections: 4_096,
  upstreamConnectMs: 10_000,
  /** What the times for upstreams may be set to: what a timer can hold. */
  upstreamMsMax: 2_147_483_647,
  upstreamKeepAliveMs: 15_000,
  /** An end that comes later was not that of an idle connection, but of one whose server had the call. */
  upstreamIdleEndMs: 100,
  /** The same of a reset, which answers the request: it takes a round trip, and longer where a packet was lost. */
  upstreamIdleResetMs: 1_000,
  upstreamRestSweepMs: 1_000,
  /** Status line and headers of an answer, its trailers, or all of its provisional answers. */
  upstreamHeadBytes: 64 * KiB,
  upstreamHeaderLines: 512,
  /** Size and extensions of one chunk. */
  upstreamChunkLineBytes: 4 * KiB,
  /** A read of an answer that is as large is its last in a turn of the event loop: a record of TLS is no larger. */
  upstreamTurnBytes: 16 * KiB,
} as const;

import { Pool, type Dispatcher } from "undici";
import { limits } from "../limits.ts";
import type { AddressGuard } from "./address-guard.ts";

/**
 * Who chose a host. What the operator configured may be private; everything else connects to public addresses only,
 * or to those that SPANWAY_ALLOW_PRIVATE_UPSTREAMS lists.
 */
export type HostTrust = "operator" | "guarded";

/** Told of one exchange: a start, then a head, data and an end, or an error at any point. */
export type ExchangeHandler = Required<
  Pick<
    Dispatcher.DispatchHandler,
    "onRequestStart" | "onResponseStart" | "onResponseData" | "onResponseEnd" | "onResponseError"
  >
>;

/**
 * Connections to other servers: one pool for each origin, kept open. Redirects are answers like any other, never
 * followed, and no time is minded here: whoever calls does that.
 */
export type Pools = {
  /** @param origin `https://host:port`, without path. Failures to connect reach the handler's `onResponseError`. */
  dispatch(
    origin: string,
    trust: HostTrust,
    options: Omit<Dispatcher.DispatchOptions, "origin">,
    handler: ExchangeHandler,
  ): void;
  /** The parts of an absolute http(s) URL without user and password; undefined for any other text. */
  locate(url: string): { origin: string; path: string } | undefined;
  /** Cuts all connections. */
  close(): Promise<void>;
};

export type PoolsOptions = {
  guard: AddressGuard;
  maxOrigins?: number;
  /** Told of each pool that was closed to make room for another. */
  onEviction?: () => void;
};

export function createPools({ guard, maxOrigins = limits.upstreamOrigins, onEviction }: PoolsOptions): Pools {
  const pools = new Map<string, Pool>();
  const closing = new Set<Promise<void>>();
  // Reading a URL costs more than sending to it, and few are called over and over.
  const places = new Map<string, ReturnType<Pools["locate"]>>();

  const poolOf = (origin: string, trust: HostTrust): Pool => {
    const key = `${trust} ${origin}`;
    const known = pools.get(key);
    if (known !== undefined) {
      if (pools.size > 1) {
        pools.delete(key);
        pools.set(key, known);
      }
      return known;
    }
    const pool = new Pool(origin, {
      connect: trust === "operator" ? guard.open : guard.guarded,
      connections: limits.upstreamConnections,
      keepAliveTimeout: limits.upstreamKeepAliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
    });
    pools.set(key, pool);
    if (pools.size > maxOrigins) evictOldest();
    return pool;
  };

  const evictOldest = (): void => {
    const [oldest] = pools;
    if (oldest === undefined) return;
    const [key, pool] = oldest;
    pools.delete(key);
    onEviction?.();
    // Lets what is under way finish.
    const closed = pool.close().catch(() => undefined);
    closing.add(closed);
    void closed.then(() => closing.delete(closed));
  };

  return {
    dispatch(origin, trust, options, handler) {
      poolOf(origin, trust).dispatch(options, handler);
    },
    locate(url) {
      const known = places.get(url);
      if (known !== undefined) return known;
      const place = parseUrl(url);
      if (places.size >= limits.upstreamUrls) places.clear();
      places.set(url, place);
      return place;
    },
    async close() {
      await Promise.all([...Array.from(pools.values(), (pool) => pool.destroy()), ...closing]);
      pools.clear();
    },
  };
}

function parseUrl(text: string): { origin: string; path: string } | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  return { origin: url.origin, path: url.pathname + url.search };
}

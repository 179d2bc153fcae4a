import { outgoingLimits } from "./limits.ts";
import type { AddressGuard } from "./address-guard.ts";
import type { ExchangeHandler, OutgoingRequest } from "./http1/exchange-handler.ts";
import { OriginPool } from "./http1/origin-pool.ts";

/**
 * Who chose a host. Hosts that the operator configured may be private; all others connect only to public addresses, or
 * to those that SPANWAY_ALLOW_PRIVATE_UPSTREAMS lists.
 */
export type HostTrust = "operator" | "guarded";

/**
 * Connections to other servers: one keep-alive pool per origin. Redirects are returned like any other response, never
 * followed, and there are no timeouts for responses: the caller enforces those.
 */
export type Pools = {
  /**
   * @param origin `https://host:port`, without path. Never throws: all failures reach the handler's `onResponseError`.
   */
  dispatch(origin: string, trust: HostTrust, request: OutgoingRequest, handler: ExchangeHandler): void;
  /** Splits an absolute http(s) URL without user and password; undefined for any other text. */
  locate(url: string): { origin: string; path: string } | undefined;
  /** Closes all connections; calls in progress fail. */
  close(): void;
};

export type PoolsOptions = {
  guard: AddressGuard;
  maxOrigins?: number;
  /** Called for each pool that was retired to make room for another. */
  onEviction?: () => void;
};

export function createPools({ guard, maxOrigins = outgoingLimits.upstreamOrigins, onEviction }: PoolsOptions): Pools {
  const pools = new Map<string, OriginPool>();
  /** Evicted pools, until their calls in progress end. */
  const retired = new Set<OriginPool>();
  // Parsing a URL costs more than sending to it, and a few URLs are called repeatedly.
  const places = new Map<string, ReturnType<Pools["locate"]>>();

  const poolOf = (origin: string, trust: HostTrust): OriginPool => {
    const key = `${trust} ${origin}`;
    const known = pools.get(key);
    if (known !== undefined) {
      if (pools.size > 1) {
        pools.delete(key);
        pools.set(key, known);
      }
      return known;
    }
    const pool = new OriginPool(origin, trust === "operator" ? guard.open : guard.guarded);
    pools.set(key, pool);
    if (pools.size > maxOrigins) retireOldest();
    return pool;
  };

  const retireOldest = (): void => {
    const [oldest] = pools;
    if (oldest === undefined) return;
    const [key, pool] = oldest;
    pools.delete(key);
    onEviction?.();
    retired.add(pool);
    pool.retire(() => retired.delete(pool));
  };

  return {
    dispatch(origin, trust, request, handler) {
      poolOf(origin, trust).dispatch(request, handler);
    },
    locate(url) {
      const known = places.get(url);
      if (known !== undefined) return known;
      const place = parseUrl(url);
      if (places.size >= outgoingLimits.upstreamUrls) places.clear();
      places.set(url, place);
      return place;
    },
    close() {
      for (const pool of [...pools.values(), ...retired]) pool.close();
      pools.clear();
    },
  };
}

function parseUrl(text: string): { origin: string; path: string } | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  return { origin: url.origin, path: url.pathname + url.search };
}

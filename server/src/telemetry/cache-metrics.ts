import { Counter, Gauge, type Registry } from "prom-client";

/** Metrics of the response cache. */
export type CacheMetrics = {
  lookups: Counter<"outcome">;
  skipped: Counter<"reason">;
  evictions: Counter;
  failures: Counter;
  /** Exposes the bytes cached in this process. */
  watchBytes(read: () => number): void;
};

export function createCacheMetrics(registry: Registry): CacheMetrics {
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: T[] = []): Counter<T> =>
    new Counter({ name, help, labelNames, registers });
  const metrics: CacheMetrics = {
    lookups: counter("spanway_cache_lookups_total", "Calls that requested the response cache, by outcome", ["outcome"]),
    skipped: counter("spanway_cache_skipped_total", "Responses that were not cached, by reason", ["reason"]),
    evictions: counter("spanway_cache_evictions_total", "Responses evicted before their expiry to make room"),
    failures: counter("spanway_cache_failures_total", "Times that the shared cache did not respond, or not in time"),
    watchBytes(read) {
      const name = "spanway_cache_bytes";
      const help = "Responses cached in this process";
      const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) });
    },
  };
  return metrics;
}

import { Counter, Gauge, type Registry } from "prom-client";

/** What an operator watches of the response cache. */
export type CacheMetrics = {
  lookups: Counter<"outcome">;
  skipped: Counter<"reason">;
  evictions: Counter;
  failures: Counter;
  /** Shows how many bytes are kept in this process. */
  watchBytes(read: () => number): void;
};

export function createCacheMetrics(registry: Registry): CacheMetrics {
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: T[] = []): Counter<T> =>
    new Counter({ name, help, labelNames, registers });
  const metrics: CacheMetrics = {
    lookups: counter("spanway_cache_lookups_total", "Calls that asked for the response cache, by what they found", [
      "outcome",
    ]),
    skipped: counter("spanway_cache_skipped_total", "Answers that were not kept, by why", ["reason"]),
    evictions: counter("spanway_cache_evictions_total", "Answers forgotten before their time to make room"),
    failures: counter("spanway_cache_failures_total", "Times that the shared cache did not answer, or not in time"),
    watchBytes(read) {
      const name = "spanway_cache_bytes";
      const help = "Answers kept in this process";
      const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) });
    },
  };
  return metrics;
}

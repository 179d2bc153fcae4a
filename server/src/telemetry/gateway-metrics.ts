import { Counter, Gauge, type Registry } from "prom-client";

/** Metrics of the gateway. No label contains a value that a caller chose. */
export type GatewayMetrics = {
  attempts: Counter<"outcome">;
  retries: Counter<"kind">;
  recordRetries: Counter;
  recordsLost: Counter;
  recordsUnspooled: Counter;
  recordsRecalled: Counter;
  refusedFull: Counter;
  poolEvictions: Counter;
  coolDownsDropped: Counter;
  unreadableSettings: Counter;
  /** Exposes the number of waiting records. */
  watchRecords(read: () => number): void;
  /** Exposes their bytes in files. */
  watchSpool(readBytes: () => number): void;
  /** Exposes the number of credentials that failed lately. */
  watchCredentials(read: () => number): void;
};

export function createGatewayMetrics(registry: Registry): GatewayMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    const created: Gauge = new Gauge({ name, help, registers, collect: () => created.set(read()) });
  };
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  return {
    attempts: new Counter({
      name: "spanway_gateway_attempts_total",
      help: "Attempts at providers, by outcome",
      labelNames: ["outcome"],
      registers,
    }),
    retries: new Counter({
      name: "spanway_gateway_retries_total",
      help: "Further attempts of a call, at the same model or the next",
      labelNames: ["kind"],
      registers,
    }),
    recordRetries: counter("spanway_gateway_record_retries_total", "Times that the journal refused spans of calls"),
    recordsLost: counter("spanway_gateway_records_lost_total", "Spans of calls that were never recorded"),
    recordsUnspooled: counter(
      "spanway_gateway_records_unspooled_total",
      "Spans of calls that wait for the journal in memory only, because the spool was full or could not be written",
    ),
    recordsRecalled: counter(
      "spanway_gateway_records_recalled_total",
      "Spans of calls that an earlier process left in the spool",
    ),
    refusedFull: counter("spanway_gateway_refusals_total", "Calls refused because too many spans wait for the journal"),
    poolEvictions: counter("spanway_upstream_pool_evictions_total", "Pools of connections closed to make room"),
    coolDownsDropped: counter("spanway_gateway_cool_downs_dropped_total", "Cool-downs forgotten to make room"),
    unreadableSettings: counter(
      "spanway_gateway_unreadable_settings_total",
      "Provider settings left out because they are sealed with another secret, or damaged; counted at each read",
    ),
    watchRecords: (read) =>
      gauge("spanway_gateway_records_waiting", "Spans of finished calls that are not in the journal yet", read),
    watchSpool: (readBytes) =>
      gauge("spanway_gateway_spool_bytes", "Bytes of spans of finished calls in the spool", readBytes),
    watchCredentials: (read) =>
      gauge(
        "spanway_gateway_failing_credentials",
        "Credentials whose last call failed, each by organization and model",
        read,
      ),
  };
}

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

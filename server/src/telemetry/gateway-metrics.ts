import { Counter, Gauge, type Registry } from "prom-client";

/** What an operator watches of the gateway. Nothing that a caller chose is a label. */
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
  /** Shows how many records wait. */
  watchRecords(read: () => number): void;
  /** Shows how much of them lies in files. */
  watchSpool(readBytes: () => number): void;
  /** Shows how many credentials failed lately. */
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
      help: "Calls made of upstreams, by how they ended",
      labelNames: ["outcome"],
      registers,
    }),
    retries: new Counter({
      name: "spanway_gateway_retries_total",
      help: "Further attempts of a call, with the same model or the next",
      labelNames: ["kind"],
      registers,
    }),
    recordRetries: counter("spanway_gateway_record_retries_total", "Times that the journal took no spans of calls"),
    recordsLost: counter("spanway_gateway_records_lost_total", "Spans of calls that were never recorded"),
    recordsUnspooled: counter(
      "spanway_gateway_records_unspooled_total",
      "Spans of calls that wait for the journal in memory alone, as the spool was full or could not be written",
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
      "Provider settings left out as they are sealed with another secret, or damaged; counted when they are read",
    ),
    watchRecords: (read) =>
      gauge("spanway_gateway_records_waiting", "Spans of finished calls that are not in the journal yet", read),
    watchSpool: (readBytes) =>
      gauge("spanway_gateway_spool_bytes", "Bytes of spans of finished calls that lie in the spool", readBytes),
    watchCredentials: (read) =>
      gauge(
        "spanway_gateway_failing_credentials",
        "Credentials whose last call failed, each by organization and model",
        read,
      ),
  };
}

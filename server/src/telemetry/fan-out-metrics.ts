import { Counter, Gauge, type Registry } from "prom-client";

/** What an operator watches of the way from a stored span to those who wait for it. */
export type FanOutMetrics = { failures: Counter<"subscriber">; missed: Counter };

export function createFanOutMetrics(
  registry: Registry,
  kept: { stats(): { entries: number; bytes: number } },
): FanOutMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    const created: Gauge = new Gauge({ name, help, registers, collect: () => created.set(read()) });
  };
  gauge("spanway_fan_out_entries", "Stored requests whose spans are still to be handed on", () => kept.stats().entries);
  gauge("spanway_fan_out_bytes", "Bytes of these requests", () => kept.stats().bytes);
  return {
    failures: new Counter({
      name: "spanway_fan_out_failures_total",
      help: "Times that a subscriber did not take spans, which were tried again",
      labelNames: ["subscriber"],
      registers,
    }),
    missed: new Counter({
      name: "spanway_fan_out_read_back_total",
      help: "Spans that a subscriber has to read back from the store, as too many waited",
      registers,
    }),
  };
}

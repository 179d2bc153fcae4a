import { Counter, Gauge, type Registry } from "prom-client";

/** Metrics of the dispatch of stored spans to subscribers. */
export type FanOutMetrics = { failures: Counter<"subscriber">; missed: Counter };

export function createFanOutMetrics(
  registry: Registry,
  kept: { stats(): { entries: number; bytes: number } },
): FanOutMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    const created: Gauge = new Gauge({ name, help, registers, collect: () => created.set(read()) });
  };
  gauge(
    "spanway_fan_out_entries",
    "Stored requests whose spans are not dispatched to all subscribers yet",
    () => kept.stats().entries,
  );
  gauge("spanway_fan_out_bytes", "Bytes of these requests", () => kept.stats().bytes);
  return {
    failures: new Counter({
      name: "spanway_fan_out_failures_total",
      help: "Failures of a subscriber to consume spans, which were retried",
      labelNames: ["subscriber"],
      registers,
    }),
    missed: new Counter({
      name: "spanway_fan_out_read_back_total",
      help: "Spans that a subscriber has to read back from the store, because too many waited",
      registers,
    }),
  };
}

type Waiting = { subscriber: string; entries: number; sinceMs: number | undefined };

/** How far each subscriber is behind the stored spans. @param waiting times are those of `performance.now` */
export function watchSubscribers(registry: Registry, waiting: () => readonly Waiting[]): void {
  const gauge = (name: string, help: string, read: (of: Waiting) => number): void => {
    const collect = () => {
      for (const of of waiting()) created.set({ subscriber: of.subscriber }, read(of));
    };
    const created = new Gauge({ name, help, labelNames: ["subscriber"], registers: [registry], collect });
  };
  gauge(
    "spanway_fan_out_waiting_entries",
    "Stored requests whose spans a subscriber has not consumed yet",
    ({ entries }) => entries,
  );
  gauge("spanway_fan_out_lag_seconds", "How long the first of these has waited", ({ sinceMs }) =>
    sinceMs === undefined ? 0 : (performance.now() - sinceMs) / 1_000,
  );
}

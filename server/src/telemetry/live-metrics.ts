import { Counter, Gauge, type Registry } from "prom-client";

/** Metrics of the live tail. */
export type LiveMetrics = { skipped: Counter; refusals: Counter };

export function createLiveMetrics(registry: Registry, listeners: () => number): LiveMetrics {
  const registers = [registry];
  const gauge: Gauge = new Gauge({
    name: "spanway_live_listeners",
    help: "Open streams of the live tail",
    registers,
    collect: () => gauge.set(listeners()),
  });
  return {
    skipped: new Counter({
      name: "spanway_live_skipped_total",
      help: "Events of the live tail that a listener did not get because too many waited for it",
      registers,
    }),
    refusals: new Counter({
      name: "spanway_live_refusals_total",
      help: "Streams of the live tail refused because too many were open",
      registers,
    }),
  };
}

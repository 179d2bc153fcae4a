import { Counter, Gauge, type Registry } from "prom-client";

/** The number of remembered deleted traces, and whether it has reached its bound. */
export function watchDeletedTraces(
  registry: Registry,
  deletedTraces: { stats(): { traces: number; evicted: number } },
): void {
  const registers = [registry];
  const traces: Gauge = new Gauge({
    name: "spanway_deleted_traces",
    help: "Traces deleted within the last day that this node remembers",
    registers,
    collect: () => traces.set(deletedTraces.stats().traces),
  });
  const evicted: Counter = new Counter({
    name: "spanway_deleted_traces_forgotten_total",
    help: "Deleted traces that were forgotten within the day because there were too many",
    registers,
    collect() {
      evicted.reset();
      evicted.inc(deletedTraces.stats().evicted);
    },
  });
}

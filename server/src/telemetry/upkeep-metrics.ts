import { Counter, Gauge, type Registry } from "prom-client";

/** Who does the upkeep of what is stored, and how it goes. */
export function createUpkeepMetrics(registry: Registry) {
  const registers = [registry];
  return {
    retentionFailures: new Counter({
      name: "spanway_retention_failures_total",
      help: "Organizations whose old spans could not be deleted, which is tried again",
      registers,
    }),
    retentionEnded: new Gauge({
      name: "spanway_retention_end_timestamp_seconds",
      help: "When retention last went through all organizations on this node; 0 if it has not yet",
      registers,
    }),
    watchLeader(isLeader: () => boolean): void {
      const leader: Gauge = new Gauge({
        name: "spanway_leader",
        help: "1 on the node that does retention and frees disk space, else 0",
        registers,
        collect: () => leader.set(isLeader() ? 1 : 0),
      });
    },
  };
}

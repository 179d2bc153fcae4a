import { Counter, Gauge, type Registry } from "prom-client";

type SumsRound = { behindMs: number; slots: number };

/** How far stored sums are behind the spans, and how many slots are built. */
export function createSumsMetrics(registry: Registry): (round: SumsRound) => void {
  const registers = [registry];
  const behind = new Gauge({
    name: "spanway_sums_behind_seconds",
    help: "Age of the oldest stored change that sums may not have yet",
    registers,
  });
  const built = new Counter({
    name: "spanway_sums_slots_built_total",
    help: "Five-minute slots that were summed",
    registers,
  });
  return ({ behindMs, slots }) => {
    behind.set(behindMs / 1_000);
    built.inc(slots);
  };
}

import { Counter, Gauge, type Registry } from "prom-client";

type SumsRound = { behindMs: number; slots: number };

/** How far stored sums are behind the spans, and how many slots are built. */
export function createSumsMetrics(registry: Registry): (round: SumsRound) => void {
  const registers = [registry];
  let last: { behindMs: number; atMs: number } | undefined;
  const behind: Gauge = new Gauge({
    name: "spanway_sums_behind_seconds",
    help: "Age of the oldest stored change that sums may not have yet",
    registers,
    // A round may take long or fail, and meanwhile the sums fall behind.
    collect() {
      if (last !== undefined) behind.set((last.behindMs + performance.now() - last.atMs) / 1_000);
    },
  });
  const built = new Counter({
    name: "spanway_sums_slots_built_total",
    help: "Five-minute slots that were summed",
    registers,
  });
  return ({ behindMs, slots }) => {
    last = { behindMs, atMs: performance.now() };
    built.inc(slots);
  };
}

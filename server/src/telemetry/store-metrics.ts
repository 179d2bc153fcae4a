import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export type ControlMetrics = {
  stale: { inc(labels: { kind: string }): void };
  watchDown(seconds: () => number): void;
};

/** Whether the control store responds, and what was served without it. */
export function createControlMetrics(registry: Registry): ControlMetrics {
  const registers = [registry];
  return {
    stale: new Counter({
      name: "spanway_control_stale_total",
      help: "Times that a last known value was used because the control store did not respond",
      labelNames: ["kind"] as const,
      registers,
    }),
    watchDown(seconds) {
      const down: Gauge = new Gauge({
        name: "spanway_control_down_seconds",
        help: "How long the control store has not responded; 0 while it does",
        registers,
        collect: () => down.set(seconds()),
      });
    },
  };
}

/** How far this machine's clock is ahead of the control store's. */
export function watchClock(registry: Registry, clock: { skewMs(): number }): void {
  const skew: Gauge = new Gauge({
    name: "spanway_clock_skew_seconds",
    help: "How far the clock of this machine is ahead of the control store's; negative if behind",
    registers: [registry],
    collect: () => skew.set(clock.skewMs() / 1000),
  });
}

type QueryEvent = { name: string; seconds: number; outcome: string };

/** Durations and outcomes of span-store queries, by the kind of query. */
export function createQueryMetrics(registry: Registry): (event: QueryEvent) => void {
  const registers = [registry];
  const seconds = new Histogram({
    name: "spanway_query_seconds",
    help: "Duration of a span-store query, including the wait in its queue",
    labelNames: ["query"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers,
  });
  const outcomes = new Counter({
    name: "spanway_queries_total",
    help: "Span-store queries by outcome; refused means that too many waited",
    labelNames: ["query", "outcome"],
    registers,
  });
  return ({ name, seconds: duration, outcome }) => {
    seconds.observe({ query: name }, duration);
    outcomes.inc({ query: name, outcome });
  };
}

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

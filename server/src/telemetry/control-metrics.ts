import { Counter, Gauge, type Registry } from "prom-client";

export type ControlMetrics = {
  stale: { inc(labels: { kind: string }): void };
  watchDown(seconds: () => number): void;
};

/** Whether the control store answers, and what was served without it. */
export function createControlMetrics(registry: Registry): ControlMetrics {
  const registers = [registry];
  return {
    stale: new Counter({
      name: "spanway_control_stale_total",
      help: "Times that something was used as last known because the control store did not answer",
      labelNames: ["kind"] as const,
      registers,
    }),
    watchDown(seconds) {
      const down: Gauge = new Gauge({
        name: "spanway_control_down_seconds",
        help: "How long the control store has not answered; 0 while it does",
        registers,
        collect: () => down.set(seconds()),
      });
    },
  };
}

/** By how much this machine's clock is ahead of the control store's. */
export function watchClock(registry: Registry, clock: { skewMs(): number }): void {
  const skew: Gauge = new Gauge({
    name: "spanway_clock_skew_seconds",
    help: "By how much the clock of this machine is ahead of the control store's; negative: behind",
    registers: [registry],
    collect: () => skew.set(clock.skewMs() / 1000),
  });
}

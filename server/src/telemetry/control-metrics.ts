import { Counter, Gauge, type Registry } from "prom-client";

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

import { Counter, Gauge, type Registry } from "prom-client";
import type { LimitOutcome, SharedLimit, WatchLimits } from "../lib/fair-share.ts";

/** Metrics of the limits that organizations share. */
export function createLimitMetrics(registry: Registry): WatchLimits {
  const registers = [registry];
  const watched: Array<readonly [name: string, limit: SharedLimit]> = [];
  const gauge = (name: string, help: string, read: (limit: SharedLimit) => number): void => {
    const created = new Gauge({
      name,
      help,
      labelNames: ["limit"] as const,
      registers,
      collect() {
        created.reset();
        // Several pools may have one limit each of the same name.
        for (const [limit, state] of watched) created.inc({ limit }, read(state));
      },
    });
  };
  gauge("spanway_shared_limit_used", "What is in use of a limit that organizations share", ({ inUse }) => inUse);
  gauge("spanway_shared_limit_max", "The limit", ({ max }) => max);
  const reached = new Counter({
    name: "spanway_shared_limit_reached_total",
    help: "Times that someone had no room within a limit that organizations share: waited, was refused, or waited too long",
    labelNames: ["limit", "outcome"] as const,
    registers,
    collect() {
      reached.reset();
      for (const [limit, state] of watched) {
        for (const outcome of outcomes) reached.inc({ limit, outcome }, state.reached[outcome] ?? 0);
      }
    },
  });
  return (limits) => void watched.push(...Object.entries(limits));
}

const outcomes: readonly LimitOutcome[] = ["waited", "refused", "late"];

import { Gauge, type Registry } from "prom-client";

/** How much waits for spans that have not come. */
export function watchLogEvents(registry: Registry, events: { stats(): { spans: number; bytes: number } }): void {
  const registers = [registry];
  const spans: Gauge = new Gauge({
    name: "spanway_log_events_spans",
    help: "Spans that log records wait for",
    registers,
    collect: () => spans.set(events.stats().spans),
  });
  const bytes: Gauge = new Gauge({
    name: "spanway_log_events_bytes",
    help: "Bytes of log records that wait for their spans",
    registers,
    collect: () => bytes.set(events.stats().bytes),
  });
}

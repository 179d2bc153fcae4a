import { Counter, Gauge, type Registry } from "prom-client";

/** Log records that wait for their spans. */
export function watchLogEvents(
  registry: Registry,
  events: { stats(): { spans: number; bytes: number; refused: number } },
): void {
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
  const refusals: Counter = new Counter({
    name: "spanway_log_events_refusals_total",
    help: "Exports refused because too many log records waited or could not be written",
    registers,
    collect() {
      refusals.reset();
      refusals.inc(events.stats().refused);
    },
  });
}

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Metrics of webhooks. No tenant data in labels. */
export type DeliveryMetrics = {
  queued: Counter<"event_type">;
  skipped: Counter;
  attempts: Counter<"outcome">;
  attemptSeconds: Histogram;
  disabled: Counter;
};

export function createDeliveryMetrics(
  registry: Registry,
  read: {
    backlog(): { rows: number; bytes: number };
    inFlight(): number;
    aheadBytes(): number;
    active(): number;
    fullTraceWatches(): number;
  },
): DeliveryMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, value: () => number): void => {
    const created: Gauge = new Gauge({ name, help, registers, collect: () => created.set(value()) });
  };
  gauge("spanway_webhooks_active", "Active webhooks", () => read.active());
  gauge("spanway_webhook_queue_rows", "Pending deliveries, on all nodes", () => read.backlog().rows);
  gauge("spanway_webhook_queue_bytes", "Bytes of their payloads", () => read.backlog().bytes);
  gauge("spanway_webhook_attempts_in_flight", "Running deliveries", () => read.inFlight());
  gauge("spanway_webhook_ahead_bytes", "Bytes of deliveries taken from the queue ahead of time", () =>
    read.aheadBytes(),
  );
  gauge("spanway_trace_watches_full", "Organizations at the limit of watched traces: further ones are read back", () =>
    read.fullTraceWatches(),
  );
  return {
    queued: new Counter({
      name: "spanway_webhook_events_queued_total",
      help: "Deliveries queued",
      labelNames: ["event_type"],
      registers,
    }),
    skipped: new Counter({
      name: "spanway_webhook_events_skipped_total",
      help: "Deliveries not queued because too many waited for their webhook",
      registers,
    }),
    attempts: new Counter({
      name: "spanway_webhook_attempts_total",
      help: "Attempts, by outcome",
      labelNames: ["outcome"],
      registers,
    }),
    attemptSeconds: new Histogram({
      name: "spanway_webhook_attempt_seconds",
      help: "Duration of one attempt",
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    disabled: new Counter({
      name: "spanway_webhooks_disabled_total",
      help: "Webhooks disabled because they kept failing",
      registers,
    }),
  };
}

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export type HttpMetrics = ReturnType<typeof createHttpMetrics>;

/** Labels are route patterns, methods, statuses and names defined here: never anything that a caller chose. */
export function createHttpMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Counter({
      name: "http_requests_total",
      help: "Requests answered. Status 499: the client disconnected first.",
      labelNames: ["route", "method", "status"] as const,
      registers,
    }),
    durationS: new Histogram({
      name: "http_request_duration_seconds",
      help: "From the arrival of the head to the end of the response.",
      labelNames: ["route"] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    }),
    watchInFlight(read: () => number): void {
      const gauge: Gauge = new Gauge({
        name: "http_requests_in_flight",
        help: "Requests not yet answered.",
        registers,
        collect: () => gauge.set(read()),
      });
    },
    watchBodyMemory(read: () => number): void {
      const gauge: Gauge = new Gauge({
        name: "http_request_body_held_bytes",
        help: "Bytes of request bodies in memory now.",
        registers,
        collect: () => gauge.set(read()),
      });
    },
    slowUploads: new Counter({
      name: "http_slow_uploads_total",
      help: "Uploads ended because they arrived too slowly while memory for bodies was short.",
      registers,
    }),
    bodyBytes: new Counter({
      name: "http_request_body_bytes_total",
      help: "Bytes of request bodies, as sent.",
      labelNames: ["route"] as const,
      registers,
    }),
    bodyRefusals: new Counter({
      name: "http_request_body_refusals_total",
      help: "Bodies refused for their size (payload_too_large) or for lack of memory (unavailable).",
      labelNames: ["code"] as const,
      registers,
    }),
    readsWaiting: new Gauge({
      name: "http_reads_waiting",
      help: "Requests that wait for their turn to read the span store.",
      registers,
    }),
    readRefusals: new Counter({
      name: "http_read_refusals_total",
      help: "Reads refused because too many waited (full), or they waited too long (late).",
      labelNames: ["reason"] as const,
      registers,
    }),
    limited: new Counter({
      name: "http_rate_limited_total",
      help: "Requests refused by a rate limit.",
      labelNames: ["rule"] as const,
      registers,
    }),
    limitStoreFailures: new Counter({
      name: "http_rate_limit_store_failures_total",
      help: "Requests counted only in this process because the shared store did not respond.",
      registers,
    }),
  };
}

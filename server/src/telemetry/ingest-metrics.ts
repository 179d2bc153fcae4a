import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Metrics of ingestion, from the accepted span to the stored one. No tenant data in labels. */
export type IngestMetrics = {
  accepted: Counter<"log_method">;
  refused: Counter<"log_method">;
  journalRefusals: Counter;
  insertSeconds: Histogram;
  insertedRows: Counter;
  insertFailures: Counter;
  quarantinedRows: Counter;
};

export function createIngestMetrics(
  registry: Registry,
  journal: {
    stats(): { entries: number; bytes: number; oldestMs: number; quarantined: number; quarantinedBytes: number };
  },
): IngestMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    const created: Gauge = new Gauge({ name, help, registers, collect: () => created.set(read()) });
  };
  gauge("spanway_journal_entries", "Accepted requests that are not stored yet", () => journal.stats().entries);
  gauge("spanway_journal_bytes", "Bytes of accepted spans that are not stored yet", () => journal.stats().bytes);
  gauge("spanway_journal_oldest_seconds", "How long the oldest of them has waited", () => {
    return journal.stats().oldestMs / 1_000;
  });
  gauge(
    "spanway_journal_quarantined",
    "Quarantined entries, which the span store refuses",
    () => journal.stats().quarantined,
  );
  gauge("spanway_journal_quarantined_bytes", "Their bytes on disk", () => journal.stats().quarantinedBytes);
  return {
    accepted: new Counter({
      name: "spanway_spans_accepted_total",
      help: "Spans accepted for ingestion",
      labelNames: ["log_method"],
      registers,
    }),
    refused: new Counter({
      name: "spanway_spans_refused_total",
      help: "Spans refused by validation",
      labelNames: ["log_method"],
      registers,
    }),
    journalRefusals: new Counter({
      name: "spanway_journal_refusals_total",
      help: "Requests refused because the journal was full or could not be written",
      registers,
    }),
    insertSeconds: new Histogram({
      name: "spanway_writer_insert_seconds",
      help: "Duration of one insert into the span store",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    insertedRows: new Counter({
      name: "spanway_writer_rows_total",
      help: "Rows written to the span store",
      registers,
    }),
    insertFailures: new Counter({
      name: "spanway_writer_failures_total",
      help: "Inserts that failed and were retried",
      registers,
    }),
    quarantinedRows: new Counter({
      name: "spanway_writer_quarantined_rows_total",
      help: "Rows quarantined in the journal because the span store refuses their content",
      registers,
    }),
  };
}

/** Metrics of the dispatch of stored spans to subscribers. */
export type FanOutMetrics = { failures: Counter<"subscriber">; missed: Counter };

export function createFanOutMetrics(
  registry: Registry,
  kept: { stats(): { entries: number; bytes: number } },
): FanOutMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    const created: Gauge = new Gauge({ name, help, registers, collect: () => created.set(read()) });
  };
  gauge(
    "spanway_fan_out_entries",
    "Stored requests whose spans are not dispatched to all subscribers yet",
    () => kept.stats().entries,
  );
  gauge("spanway_fan_out_bytes", "Bytes of these requests", () => kept.stats().bytes);
  return {
    failures: new Counter({
      name: "spanway_fan_out_failures_total",
      help: "Failures of a subscriber to consume spans, which were retried",
      labelNames: ["subscriber"],
      registers,
    }),
    missed: new Counter({
      name: "spanway_fan_out_read_back_total",
      help: "Spans that a subscriber has to read back from the store, because too many waited",
      registers,
    }),
  };
}

type Waiting = { subscriber: string; entries: number; sinceMs: number | undefined };

/** How far each subscriber is behind the stored spans. @param waiting times are those of `performance.now` */
export function watchSubscribers(registry: Registry, waiting: () => readonly Waiting[]): void {
  const gauge = (name: string, help: string, read: (of: Waiting) => number): void => {
    const collect = () => {
      for (const of of waiting()) created.set({ subscriber: of.subscriber }, read(of));
    };
    const created = new Gauge({ name, help, labelNames: ["subscriber"], registers: [registry], collect });
  };
  gauge(
    "spanway_fan_out_waiting_entries",
    "Stored requests whose spans a subscriber has not consumed yet",
    ({ entries }) => entries,
  );
  gauge("spanway_fan_out_lag_seconds", "How long the first of these has waited", ({ sinceMs }) =>
    sinceMs === undefined ? 0 : (performance.now() - sinceMs) / 1_000,
  );
}

/** The number of remembered deleted traces, and whether it has reached its bound. */
export function watchDeletedTraces(
  registry: Registry,
  deletedTraces: { stats(): { traces: number; evicted: number } },
): void {
  const registers = [registry];
  const traces: Gauge = new Gauge({
    name: "spanway_deleted_traces",
    help: "Traces deleted within the last day that this node remembers",
    registers,
    collect: () => traces.set(deletedTraces.stats().traces),
  });
  const evicted: Counter = new Counter({
    name: "spanway_deleted_traces_forgotten_total",
    help: "Deleted traces that were forgotten within the day because there were too many",
    registers,
    collect() {
      evicted.reset();
      evicted.inc(deletedTraces.stats().evicted);
    },
  });
}

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

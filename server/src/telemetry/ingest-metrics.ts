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

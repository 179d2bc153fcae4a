import { Counter, Gauge, type Registry } from "prom-client";

/** The leader, and the progress of retention and deletions. */
export function createUpkeepMetrics(registry: Registry) {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const rows = counter("spanway_retention_rows_total", "Span rows that retention marked for deletion");
  const months = counter("spanway_retention_months_total", "Months of spans in which retention deleted something");
  const overdue = gauge(
    "spanway_retention_overdue_seconds",
    "How far the oldest row deleted by the last round was past its organization's retention",
  );
  const parts = gauge("spanway_deletion_parts_to_do", "Parts that background deletions still have to process");
  const bytes = gauge("spanway_deletion_bytes_to_do", "Their bytes");
  return {
    retentionFailures: counter(
      "spanway_retention_failures_total",
      "Failures to delete expired rows, of one organization or of all, which are retried",
    ),
    retentionEnded: gauge(
      "spanway_retention_end_timestamp_seconds",
      "When retention last processed all organizations on this node; 0 if never",
    ),
    deleted(expired: { rows: number; months: number; overdueMs: number }): void {
      rows.inc(expired.rows);
      months.inc(expired.months);
      overdue.set(expired.overdueMs / 1000);
    },
    toDo(progress: { parts: number; bytes: number }): void {
      parts.set(progress.parts);
      bytes.set(progress.bytes);
    },
    watchLeader(isLeader: () => boolean): void {
      const leader: Gauge = new Gauge({
        name: "spanway_leader",
        help: "1 on the node that does retention and frees disk space, else 0",
        registers,
        collect: () => {
          leader.set(isLeader() ? 1 : 0);
          // The current leader exposes these.
          if (!isLeader()) for (const each of [parts, bytes, overdue]) each.set(0);
        },
      });
    },
  };
}

import { Counter, Gauge, type Registry } from "prom-client";

/** Who does the upkeep of what is stored, and how it goes. */
export function createUpkeepMetrics(registry: Registry) {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const rows = counter("spanway_retention_rows_total", "Rows of spans that retention gave to deletion");
  const months = counter("spanway_retention_months_total", "Months of spans in which retention deleted something");
  const overdue = gauge(
    "spanway_retention_overdue_seconds",
    "By how much the oldest of what the last round deleted was older than its organization keeps",
  );
  const parts = gauge(
    "spanway_deletion_parts_to_do",
    "Parts that deletions in the background have still to go through",
  );
  const bytes = gauge("spanway_deletion_bytes_to_do", "Their bytes");
  return {
    retentionFailures: counter(
      "spanway_retention_failures_total",
      "Times that what is too old, of an organization or of all, could not be deleted, which is tried again",
    ),
    retentionEnded: gauge(
      "spanway_retention_end_timestamp_seconds",
      "When retention last went through all organizations on this node; 0 if it has not yet",
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
          // The node that leads now says it.
          if (!isLeader()) for (const each of [parts, bytes, overdue]) each.set(0);
        },
      });
    },
  };
}

import { storedAt, storedAtIndex } from "./0001-spans.ts";
import { deduplicationWindow, localTable, mergeTree, onCluster, spreadTable } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * Sums of spans by five minutes (docs/adr/0033-sums-are-stored-up-to-a-watermark.md).
 *
 * `stored_at` is when a row was stored, by the clock of its server: no statement can write it, not even of an older
 * release. Existing tables get it here, with the time of this migration for existing rows.
 *
 * - `span_sums`: a row for each slot of five minutes, environment and model. Lists have the values for percentiles and
 *   for numbers of distinct values.
 * - `span_sum_passes`: the highest row of the highest epoch gives the time until which stored rows are in the sums
 *   (`watermark`), for slots that begin before `closed`.
 * - `span_sum_turns`: the node that builds, and until when no other node may begin.
 * - `span_sum_marks`: slots that changed without a new row.
 */
export function createSpanSums(placement: Placement): string[] {
  const marks = localTable(placement, "span_sum_marks");
  const durable = durably(placement);
  return [
    ...(["spans", "span_counts"] as const).flatMap((table) => stamp(placement, table)),
    ...sumsTable(placement, "span_sums"),
    `CREATE TABLE IF NOT EXISTS ${marks}${onCluster(placement)} (
      organization_id LowCardinality(String),
      slot DateTime('UTC'),
      stored_at DateTime64(3, 'UTC') DEFAULT now64(3)
    ) ENGINE = ${mergeTree(placement, marks, { name: "ReplacingMergeTree", args: ["stored_at"] })}
    ORDER BY (organization_id, slot)
    SETTINGS ${durable}`,
    ...spreadTable(placement, "span_sum_marks", "cityHash64(organization_id, slot)"),
    `CREATE TABLE IF NOT EXISTS span_sum_passes${onCluster(placement)} (
      epoch UInt64,
      watermark DateTime64(3, 'UTC'),
      closed DateTime('UTC')
    ) ENGINE = ${mergeTree(placement, "span_sum_passes", { name: "ReplacingMergeTree", args: ["watermark"], isOnEveryShard: true })}
    ORDER BY epoch
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
    `CREATE TABLE IF NOT EXISTS span_sum_turns${onCluster(placement)} (name String, node String, until DateTime64(3, 'UTC'))
    ENGINE = ${mergeTree(placement, "span_sum_turns", { name: "ReplacingMergeTree", args: ["until"], isOnEveryShard: true })}
    ORDER BY name`,
  ];
}

const durably = (placement: Placement) =>
  `fsync_after_insert = 1, fsync_part_directory = 1, ${deduplicationWindow(placement)} = 1000`;

/** A table with a row for each slot, environment and model. */
export function sumsTable(placement: Placement, table: "span_sums" | "span_hour_sums"): string[] {
  const local = localTable(placement, table);
  return [
    `CREATE TABLE IF NOT EXISTS ${local}${onCluster(placement)} (
      ${columns.join(",\n      ")}
    ) ENGINE = ${mergeTree(placement, local, { name: "ReplacingMergeTree", args: ["version", "is_deleted"] })}
    PARTITION BY toYYYYMM(slot)
    ORDER BY (epoch, organization_id, slot, environment, model)
    SETTINGS index_granularity = 1024, ${durably(placement)}`,
    ...spreadTable(placement, table, "cityHash64(organization_id, slot)"),
  ];
}

function stamp(placement: Placement, table: "spans" | "span_counts"): string[] {
  const local = localTable(placement, table);
  const alter = (name: string, changes: string) => `ALTER TABLE ${name}${onCluster(placement)} ${changes}`;
  const column = `ADD COLUMN IF NOT EXISTS ${storedAt}`;
  return [
    alter(local, `${column} CODEC(Delta, LZ4), ADD INDEX IF NOT EXISTS ${storedAtIndex}`),
    ...(placement.cluster === null ? [] : [alter(table, column)]),
    // For rows without the column, reads would return the time of the read.
    alter(local, "MATERIALIZE COLUMN stored_at SETTINGS mutations_sync = 2"),
    alter(local, "MATERIALIZE INDEX stored_at_minmax SETTINGS mutations_sync = 2"),
  ];
}

const values = "CODEC(LZ4)";
const columns = [
  "epoch UInt64",
  "organization_id LowCardinality(String)",
  "slot DateTime('UTC')",
  "environment LowCardinality(String)",
  "model LowCardinality(String)",
  "version UInt64",
  "is_deleted UInt8",
  "sum_requests UInt64",
  "sum_errors UInt64",
  "sum_unpriced UInt64",
  "sum_cache_hits UInt64",
  "sum_cost Float64",
  "sum_costs UInt64",
  "sum_total_tokens Int64",
  "sum_token_rows UInt64",
  "sum_prompt_tokens Int64",
  "sum_completion_tokens Int64",
  "sum_cached_tokens Int64",
  "sum_latency Float64",
  "sum_first_token Float64",
  "sum_speed Float64",
  `latencies Array(Float64) ${values}`,
  `first_tokens Array(Float64) ${values}`,
  `speeds Array(Float64) ${values}`,
  `customers Array(UInt64) ${values}`,
  `traces Array(UInt64) ${values}`,
  "first DateTime64(9, 'UTC')",
  "last DateTime64(9, 'UTC')",
];

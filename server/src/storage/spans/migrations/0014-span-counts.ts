import { storedAt, storedAtIndex } from "./0001-spans.ts";
import { deduplicationWindow, localTable, mergeTree, onCluster, spreadTable } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * What spans count for, if it differs from their own values (docs/adr/0032-counted-usage-is-stored-beside-the-spans.md). A row has the key
 * of its span and is on the same shard. `changes_usage` is 0 if only customer or thread differ, `is_inherited` is 1 if
 * the span does not name the customer itself.
 */
export function createSpanCounts(placement: Placement): string[] {
  const local = localTable(placement, "span_counts");
  return [
    `CREATE TABLE IF NOT EXISTS ${local}${onCluster(placement)} (
      organization_id LowCardinality(String),
      environment LowCardinality(String),
      timestamp DateTime64(9, 'UTC') CODEC(Delta, LZ4),
      unique_id UUID CODEC(LZ4),
      version UInt64 CODEC(Delta, LZ4),
      is_deleted UInt8,
      trace_unique_id String CODEC(LZ4),
      received_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
      ${storedAt} CODEC(Delta, LZ4),
      changes_usage UInt8,
      counts_tokens UInt8,
      cost Nullable(Float64),
      is_inherited UInt8,
      customer_identifier String CODEC(LZ4),
      thread_identifier String CODEC(LZ4),
      INDEX trace_bloom trace_unique_id TYPE bloom_filter(0.01) GRANULARITY 16,
      INDEX customer_bloom customer_identifier TYPE bloom_filter(0.01) GRANULARITY 16,
      INDEX changes_usage_minmax changes_usage TYPE minmax GRANULARITY 64,
      INDEX ${storedAtIndex}
    ) ENGINE = ${mergeTree(placement, local, { name: "ReplacingMergeTree", args: ["version", "is_deleted"] })}
    PARTITION BY toYYYYMM(least(greatest(timestamp, toDateTime64('2020-01-01 00:00:00', 9, 'UTC')), toDateTime64('2040-01-01 00:00:00', 9, 'UTC')))
    ORDER BY (toDate32(timestamp), organization_id, timestamp, unique_id, environment)
    SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, ${deduplicationWindow(placement)} = 1000`,
    ...spreadTable(placement, "span_counts", "cityHash64(organization_id, substring(toString(unique_id), 1, 18))"),
  ];
}

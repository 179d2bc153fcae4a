import { deduplicationWindow, mergeTree, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * A copy of the control store's customers, by which lists are filtered and sorted (ADR 0015). It has few rows and is
 * joined to sums over spans of any shard, so every server of a cluster has all of it.
 */
export function createCustomers(placement: Placement): string[] {
  const engine = mergeTree(placement, "customers", {
    name: "ReplacingMergeTree",
    args: ["version", "is_deleted"],
    isOnEveryShard: true,
  });
  return [
    `CREATE TABLE IF NOT EXISTS customers${onCluster(placement)} (
      organization_id LowCardinality(String),
      environment LowCardinality(String),
      customer_identifier String CODEC(LZ4),
      version UInt64 CODEC(Delta, LZ4),
      is_deleted UInt8,
      email String CODEC(LZ4),
      name String CODEC(LZ4),
      first_seen DateTime64(9, 'UTC') CODEC(Delta, LZ4)
    ) ENGINE = ${engine}
    ORDER BY (organization_id, environment, customer_identifier)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ${deduplicationWindow(placement)} = 1000`,
  ];
}

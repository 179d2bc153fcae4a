import { deduplicationWindow, localTable, mergeTree, onCluster, spreadTable } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * The time ranges of traces longer than `limits.narrowTraceS`, so that a list finds all of a trace that is partly in
 * its window. Deletions do not shorten a range: a list may then read where nothing is.
 */
export function createTraceExtents(placement: Placement): string[] {
  const local = localTable(placement, "trace_extents");
  return [
    `CREATE TABLE IF NOT EXISTS ${local}${onCluster(placement)} (
      organization_id LowCardinality(String),
      environment LowCardinality(String),
      trace_unique_id String CODEC(LZ4),
      first SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
      last SimpleAggregateFunction(max, DateTime64(9, 'UTC')),
      received_at SimpleAggregateFunction(max, DateTime64(9, 'UTC'))
    ) ENGINE = ${mergeTree(placement, local, { name: "AggregatingMergeTree", args: [] })}
    ORDER BY (organization_id, environment, trace_unique_id)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ${deduplicationWindow(placement)} = 1000`,
    ...spreadTable(placement, "trace_extents", "cityHash64(organization_id, environment, trace_unique_id)"),
  ];
}

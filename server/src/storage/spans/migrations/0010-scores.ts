import { deduplicationWindow, localTable, mergeTree, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * Scores of spans for filters, orders and averages: a copy of those scores in the control store that have a value (ADR
 * 0013). Keyed by span first, because they are joined to spans, and sharded like spans, so that a span and its scores
 * are on one shard.
 */
export function createScores(placement: Placement): string[] {
  const local = localTable(placement, "scores");
  const statements = [
    `CREATE TABLE IF NOT EXISTS ${local}${onCluster(placement)} (
      organization_id LowCardinality(String),
      unique_id UUID CODEC(LZ4),
      evaluator_id LowCardinality(String),
      version UInt64 CODEC(Delta, LZ4),
      is_deleted UInt8,
      environment LowCardinality(String),
      evaluator_slug LowCardinality(String),
      evaluator_name LowCardinality(String),
      score_value_type LowCardinality(String),
      text String CODEC(LZ4),
      value Nullable(Float64),
      is_passed Nullable(Bool),
      created_at DateTime64(3, 'UTC') CODEC(Delta, LZ4)
    ) ENGINE = ${mergeTree(placement, local, { name: "ReplacingMergeTree", args: ["version", "is_deleted"] })}
    ORDER BY (organization_id, unique_id, evaluator_id)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ${deduplicationWindow(placement)} = 1000`,
  ];
  if (placement.cluster !== null) {
    statements.push(
      `CREATE TABLE IF NOT EXISTS scores${onCluster(placement)} AS ${local}
      ENGINE = Distributed('${placement.cluster}', '${placement.database}', '${local}', cityHash64(organization_id, substring(toString(unique_id), 1, 18)))`,
    );
  }
  return statements;
}

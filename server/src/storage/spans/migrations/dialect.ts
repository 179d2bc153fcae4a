import type { SpanDatabase } from "../drivers/span-database.ts";

/**
 * Differs between a single server and a cluster. In a cluster, each shard has `<table>_local` on its replicas, and the
 * table with the plain name distributes over them.
 */
export type Placement = Pick<SpanDatabase, "cluster" | "database">;

/** The tables that a cluster distributes over its shards. */
export type SpreadTable =
  | "spans"
  | "scores"
  | "media"
  | "span_counts"
  | "trace_extents"
  | "span_edits"
  | "span_sums"
  | "span_hour_sums"
  | "span_sum_marks";

/** The table with the plain name over `<table>_local`, sharded by `key`; nothing on a single server. */
export function spreadTable(placement: Placement, table: SpreadTable, key: string): string[] {
  if (placement.cluster === null) return [];
  const local = localTable(placement, table);
  return [
    `CREATE TABLE IF NOT EXISTS ${table}${onCluster(placement)} AS ${local}
    ENGINE = Distributed('${placement.cluster}', '${placement.database}', '${local}', ${key})`,
  ];
}

export function onCluster({ cluster }: Placement): string {
  return cluster === null ? "" : ` ON CLUSTER '${cluster}'`;
}

export function localTable({ cluster }: Placement, table: SpreadTable = "spans"): string {
  return cluster === null ? table : `${table}_local`;
}

export function deduplicationWindow({ cluster }: Placement): string {
  return cluster === null ? "non_replicated_deduplication_window" : "replicated_deduplication_window";
}

/**
 * `engine` is a member of the MergeTree family and its arguments; `{shard}` and `{replica}` are macros of the servers.
 */
export function mergeTree(
  placement: Placement,
  table: string,
  engine: { name: string; args: readonly string[]; isOnEveryShard?: boolean },
): string {
  if (placement.cluster === null) return `${engine.name}(${engine.args.join(", ")})`;
  // The same path on all servers makes each of them a replica.
  const [shard, replica] = engine.isOnEveryShard ? ["all", "{shard}-{replica}"] : ["{shard}", "{replica}"];
  const path = `/clickhouse/tables/${shard}/${placement.database}/${table}`;
  return `Replicated${engine.name}(${[`'${path}'`, `'${replica}'`, ...engine.args].join(", ")})`;
}

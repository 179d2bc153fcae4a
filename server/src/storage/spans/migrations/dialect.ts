import type { SpanDatabase } from "../drivers/span-database.ts";

/**
 * What differs between one server and a cluster. There, each shard keeps `<table>_local` on its replicas, and the table
 * of the plain name spreads over them.
 */
export type Placement = Pick<SpanDatabase, "cluster" | "database">;

/** Tables that a cluster spreads over its shards. */
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

/** A table of the plain name over `<table>_local`, spread by `key`; nothing on one server. */
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

/** `engine` is a MergeTree family member and its arguments; `{shard}` and `{replica}` are macros of the servers. */
export function mergeTree(
  placement: Placement,
  table: string,
  engine: { name: string; args: readonly string[]; isOnEveryShard?: boolean },
): string {
  if (placement.cluster === null) return `${engine.name}(${engine.args.join(", ")})`;
  // One path for all servers makes every one of them a replica.
  const [shard, replica] = engine.isOnEveryShard ? ["all", "{shard}-{replica}"] : ["{shard}", "{replica}"];
  const path = `/clickhouse/tables/${shard}/${placement.database}/${table}`;
  return `Replicated${engine.name}(${[`'${path}'`, `'${replica}'`, ...engine.args].join(", ")})`;
}

import type { SpanDatabase } from "../drivers/span-database.ts";

/**
 * What differs between one server and a cluster. There, each shard keeps `<table>_local` on its replicas, and the table
 * of the plain name spreads over them.
 */
export type Placement = Pick<SpanDatabase, "cluster" | "database">;

export function onCluster({ cluster }: Placement): string {
  return cluster === null ? "" : ` ON CLUSTER '${cluster}'`;
}

export function localTable({ cluster }: Placement, table: "spans" | "scores" | "media" = "spans"): string {
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

import { deduplicationWindow, localTable, mergeTree, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * Media that spans refer to, stored once for each organization and content (docs/adr/0029-media-is-stored-once.md).
 * `text` is base64, which ZSTD compresses to the size of what it encodes. `media_ids` of a span are the media that it
 * refers to: for the sweep of media without spans, and to show media only while a span of its organization has it.
 */
export function createMedia(placement: Placement): string[] {
  const local = localTable(placement, "media");
  const spans = localTable(placement);
  const column = "ADD COLUMN IF NOT EXISTS media_ids Array(String) CODEC(ZSTD(1))";
  const index = "ADD INDEX IF NOT EXISTS media_bloom media_ids TYPE bloom_filter(0.01) GRANULARITY 16";
  const statements = [
    `ALTER TABLE ${spans}${onCluster(placement)} ${column}, ${index}`,
    `CREATE TABLE IF NOT EXISTS ${local}${onCluster(placement)} (
      organization_id LowCardinality(String),
      id String CODEC(LZ4),
      media_type LowCardinality(String),
      received_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, LZ4),
      text String CODEC(ZSTD(1))
    ) ENGINE = ${mergeTree(placement, local, { name: "ReplacingMergeTree", args: ["received_at"] })}
    ORDER BY (organization_id, id)
    SETTINGS index_granularity = 64, fsync_after_insert = 1, fsync_part_directory = 1, ${deduplicationWindow(placement)} = 1000`,
  ];
  if (placement.cluster !== null) {
    statements.push(
      `ALTER TABLE spans${onCluster(placement)} ${column}`,
      `CREATE TABLE IF NOT EXISTS media${onCluster(placement)} AS ${local}
      ENGINE = Distributed('${placement.cluster}', '${placement.database}', '${local}', cityHash64(organization_id, id))`,
    );
  }
  return statements;
}

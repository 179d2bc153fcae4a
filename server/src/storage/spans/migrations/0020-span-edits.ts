import { deduplicationWindow, localTable, mergeTree, onCluster, spreadTable } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * Edits of spans by people (docs/adr/0043-edits-are-stored-beside-the-spans.md): a row for each field of a span, and for each
 * key of metadata, on the shard of the span. `value` is text for `note`, JSON text for the rest, '' if the field was
 * cleared or the key removed; `index_entries` is what the value of a key adds to `metadata_index`.
 *
 * The columns of spans are for tables that were created before `createSpans` had them; those have notes in `extra`.
 */
export function createSpanEdits(placement: Placement): string[] {
  const local = localTable(placement, "span_edits");
  const alter = (table: string) => `ALTER TABLE ${table}${onCluster(placement)} ${columns.join(", ")}`;
  return [
    alter(localTable(placement)),
    ...(placement.cluster === null ? [] : [alter("spans")]),
    `CREATE TABLE IF NOT EXISTS ${local}${onCluster(placement)} (
      organization_id LowCardinality(String),
      unique_id UUID CODEC(LZ4),
      field LowCardinality(String),
      key String CODEC(LZ4),
      version UInt64 CODEC(Delta, LZ4),
      is_deleted UInt8,
      value String CODEC(ZSTD(1)),
      index_entries Map(String, String) CODEC(ZSTD(1))
    ) ENGINE = ${mergeTree(placement, local, { name: "ReplacingMergeTree", args: ["version", "is_deleted"] })}
    ORDER BY (organization_id, unique_id, field, key)
    SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, ${deduplicationWindow(placement)} = 1000`,
    ...spreadTable(placement, "span_edits", "cityHash64(organization_id, substring(toString(unique_id), 1, 18))"),
  ];
}

const columns = [
  `ADD COLUMN IF NOT EXISTS note String DEFAULT if(position(extra, '"note"') = 0, '', JSONExtractString(extra, 'note')) CODEC(ZSTD(1)) AFTER positive_feedback`,
  "ADD COLUMN IF NOT EXISTS is_pinned Nullable(Bool) AFTER note",
];

import { packedColumn } from "./0030-packed-columns.ts";
import { deduplicationWindow, localTable, mergeTree, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * The table of spans.
 *
 * Key: the day comes first because FINAL merges only where the key ranges of parts overlap. Parts have consecutive time
 * ranges, but with the organization first, the one granule of a part that passes from one organization to the next
 * would span all later times of the former, and so overlap every later part. Time comes before environment so that a
 * list over both environments is read in order.
 *
 * Partitions: months. Dates far in the past or future share one partition at either end, so that no input can create
 * thousands.
 *
 * Granules: at most 512 KiB, so that reading one span skips over little else. Fresh parts of an insert are compact: two
 * files to sync instead of two for each column. A month that gets no more rows becomes one part, which FINAL reads as
 * it is, and from which superseded rows are deleted.
 */
export function createSpans(placement: Placement): string[] {
  const local = localTable(placement);
  const statements = [
    `CREATE TABLE IF NOT EXISTS ${local}${onCluster(placement)} (
      ${[...columns, ...indexes].join(",\n      ")}
    ) ENGINE = ${mergeTree(placement, local, { name: "ReplacingMergeTree", args: ["version", "is_deleted"] })}
    PARTITION BY toYYYYMM(least(greatest(timestamp, toDateTime64('2020-01-01 00:00:00', 9, 'UTC')), toDateTime64('2040-01-01 00:00:00', 9, 'UTC')))
    ORDER BY (toDate32(timestamp), organization_id, timestamp, unique_id, environment)
    SETTINGS index_granularity = 1024, index_granularity_bytes = 524288, min_level_for_wide_part = 1,
      min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1,
      fsync_after_insert = 1, fsync_part_directory = 1, ${deduplicationWindow(placement)} = 1000`,
  ];
  if (placement.cluster !== null) {
    // Sharded by the half of the id that spans of one trace share, so a trace, and every version of a span, is on one
    // shard.
    statements.push(
      `CREATE TABLE IF NOT EXISTS spans${onCluster(placement)} AS ${local}
      ENGINE = Distributed('${placement.cluster}', '${placement.database}', '${local}', cityHash64(organization_id, substring(toString(unique_id), 1, 18)))`,
    );
  }
  return statements;
}

/** When a row was stored, by the clock of its server: see 0022-span-sums.ts. */
export const storedAt = "stored_at DateTime64(3, 'UTC') MATERIALIZED now64(3)";
export const storedAtIndex = "stored_at_minmax stored_at TYPE minmax GRANULARITY 64";

const time = "DateTime64(9, 'UTC')";
const name = "LowCardinality(String)";
const text = "String CODEC(ZSTD(1))";
// Searched by value through every row of a window: decompression is most of the work.
const id = "String CODEC(LZ4)";
const integer = "Nullable(Int64)";
const number = "Nullable(Float64)";
const boolean = "Nullable(Bool)";

// A turn of a conversation repeats all turns before it: blocks of several turns, and a compression window as long as a
// block, store such a message once. Reading one row then decompresses 2 MiB, which takes some 3 ms.
const history =
  "String CODEC(ZSTD(1, 22)) SETTINGS (min_compress_block_size = 2097152, max_compress_block_size = 4194304)";

/**
 * Whether a row names another span as its parent. Most statements check this for all rows, and read the ids of only a
 * few.
 */
export const hasParent = "trace_unique_id != '' AND span_parent_id != '' AND span_parent_id != span_unique_id";

// Every query reads the columns of the key: LZ4 is cheaper to decompress.
const columns = [
  `organization_id ${name}`,
  `environment ${name}`,
  `timestamp ${time} CODEC(Delta, LZ4)`,
  `unique_id UUID CODEC(LZ4)`,
  `version UInt64 CODEC(Delta, LZ4)`,
  `is_deleted UInt8`,
  `is_resend UInt8`,

  `start_time ${time} DEFAULT timestamp CODEC(Delta, ZSTD(1))`,
  `received_at ${time} DEFAULT timestamp CODEC(Delta, ZSTD(1))`,
  `${storedAt} CODEC(Delta, LZ4)`,
  `organization_key_id ${name}`,
  `organization_key_name ${name}`,

  `log_type ${name}`,
  `log_method ${name}`,
  `model ${name}`,
  `provider_id ${name}`,
  `deployment_id ${name}`,
  `deployment_name ${name}`,
  `span_name ${name}`,
  `span_workflow_name ${name}`,
  `stream ${boolean}`,

  `trace_unique_id ${id}`,
  `span_unique_id ${id}`,
  `span_parent_id ${id}`,
  `has_parent UInt8 DEFAULT ${hasParent}`,
  `thread_identifier ${id}`,
  `session_identifier ${id}`,
  `trace_group_identifier ${id}`,
  `customer_identifier ${id}`,
  `customer_email ${text}`,
  `customer_name ${text}`,
  `custom_identifier ${id}`,
  `group_identifier ${id}`,
  `evaluation_identifier ${id}`,
  `prompt_id ${name}`,
  `prompt_name ${name}`,
  `response_id ${id}`,
  `gateway_log_id ${id}`,
  `scope_name ${name}`,

  `status ${name}`,
  `status_code ${integer}`,
  `error_message ${text}`,
  `latency ${number}`,
  `time_to_first_token ${number}`,
  `tokens_per_second ${number}`,
  `routing_time ${number}`,

  `prompt_tokens ${integer}`,
  `completion_tokens ${integer}`,
  `total_tokens ${integer}`,
  `prompt_cache_hit_tokens ${integer}`,
  `prompt_cache_creation_tokens ${integer}`,
  `reasoning_tokens ${integer}`,
  `cost ${number}`,
  `cost_source ${name}`,
  `price_version ${name}`,
  `cost_details ${text}`,
  `unpriced ${name}`,
  `cache_hit ${boolean}`,
  `cache_key ${text}`,

  `temperature ${number}`,
  `max_tokens ${integer}`,
  `positive_feedback ${boolean}`,
  `note ${text}`,
  `is_pinned ${boolean}`,

  `metadata ${text}`,
  `metadata_index Map(${name}, String) CODEC(LZ4)`,
  `metadata_reserved ${text}`,
  `properties ${text}`,
  `extra ${text}`,

  `input ${history}`,
  `output ${text}`,
  `prompt_messages ${history}`,
  `completion_message ${text}`,
  `completion_messages ${text}`,
  `tools ${history}`,
  `tool_calls ${text}`,
  `full_request ${history}`,
  `full_response ${text}`,
  `${packedColumn} CODEC(ZSTD(1))`,
];

// Nearly every row has 0 here: an index that shows whole ranges without any avoids reading the column.
export const markIndexes = ["is_resend", "has_parent"].map(
  (mark) => `${mark}_minmax ${mark} TYPE minmax GRANULARITY 64`,
);

// One filter for 16 granules: with one for each, reading the filters would take longer than reading the column.
const bloom = "TYPE bloom_filter(0.01) GRANULARITY 16";
const indexes = [
  `INDEX unique_id_bloom unique_id ${bloom}`,
  `INDEX trace_bloom trace_unique_id ${bloom}`,
  `INDEX thread_bloom thread_identifier ${bloom}`,
  `INDEX customer_bloom customer_identifier ${bloom}`,
  `INDEX gateway_log_bloom gateway_log_id ${bloom}`,
  `INDEX custom_bloom custom_identifier ${bloom}`,
  `INDEX metadata_keys_bloom mapKeys(metadata_index) ${bloom}`,
  `INDEX metadata_values_bloom mapValues(metadata_index) ${bloom}`,
  ...[...markIndexes, storedAtIndex].map((index) => `INDEX ${index}`),
];

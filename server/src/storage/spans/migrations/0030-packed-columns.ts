import type { SpanColumn } from "../../../domain/span.ts";
import { localTable, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * The short columns of a row of a page, in this order. Each column of a statement takes the engine about 0.14 ms,
 * whatever its type. Ids that are unique to each span are not here: they would double their space on disk.
 */
export const packedColumns = [
  "start_time",
  "organization_key_id",
  "organization_key_name",
  "log_type",
  "log_method",
  "model",
  "provider_id",
  "deployment_id",
  "deployment_name",
  "span_name",
  "span_workflow_name",
  "stream",
  "thread_identifier",
  "session_identifier",
  "trace_group_identifier",
  "customer_identifier",
  "customer_email",
  "customer_name",
  "custom_identifier",
  "group_identifier",
  "evaluation_identifier",
  "prompt_id",
  "prompt_name",
  "gateway_log_id",
  "scope_name",
  "status",
  "status_code",
  "error_message",
  "latency",
  "time_to_first_token",
  "tokens_per_second",
  "routing_time",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "prompt_cache_hit_tokens",
  "prompt_cache_creation_tokens",
  "reasoning_tokens",
  "cost",
  "cost_source",
  "price_version",
  "unpriced",
  "cache_hit",
  "cache_key",
  "temperature",
  "max_tokens",
  "positive_feedback",
  "note",
  "is_pinned",
] as const satisfies readonly SpanColumn[];

/** A line of `packedColumns` separated by tabs. The engine computes it at insert; no statement can write it. */
export const packedColumn = `packed String MATERIALIZED formatRowNoNewline('TSV', ${packedColumns.join(", ")})`;

/**
 * For tables that were created before `createSpans` had the column. Existing rows get it in the background; until then
 * reads compute it from their columns.
 */
export function packColumns(placement: Placement): string[] {
  const alter = (table: string, changes: string) => `ALTER TABLE ${table}${onCluster(placement)} ${changes}`;
  const column = `ADD COLUMN IF NOT EXISTS ${packedColumn}`;
  const local = localTable(placement);
  return [
    alter(local, `${column} CODEC(ZSTD(1))`),
    ...(placement.cluster === null ? [] : [alter("spans", column)]),
    alter(local, "MATERIALIZE COLUMN packed SETTINGS mutations_sync = 0"),
  ];
}

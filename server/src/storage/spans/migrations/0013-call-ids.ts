import { localTable, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * The columns that show that two spans report one call: the id of the response, the gateway's span of the call, and who
 * reported it. For tables that were created before `createSpans` had them.
 */
export function addCallIds(placement: Placement): string[] {
  const local = localTable(placement);
  const index = "ADD INDEX IF NOT EXISTS gateway_log_bloom gateway_log_id TYPE bloom_filter(0.01) GRANULARITY 16";
  const alter = (table: string, changes: readonly string[]) =>
    `ALTER TABLE ${table}${onCluster(placement)} ${changes.join(", ")}`;
  return [alter(local, [...columns, index]), ...(placement.cluster === null ? [] : [alter("spans", columns)])];
}

const columns = [
  "ADD COLUMN IF NOT EXISTS response_id String CODEC(LZ4) AFTER prompt_name",
  "ADD COLUMN IF NOT EXISTS gateway_log_id String CODEC(LZ4) AFTER response_id",
  "ADD COLUMN IF NOT EXISTS scope_name LowCardinality(String) AFTER gateway_log_id",
];

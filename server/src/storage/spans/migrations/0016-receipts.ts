import { localTable, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * How a cost was computed, and what of the usage has no price. For tables that were created before `createSpans` had
 * these columns.
 */
export function addReceipts(placement: Placement): string[] {
  const alter = (table: string) => `ALTER TABLE ${table}${onCluster(placement)} ${columns.join(", ")}`;
  return [alter(localTable(placement)), ...(placement.cluster === null ? [] : [alter("spans")])];
}

const columns = [
  "ADD COLUMN IF NOT EXISTS cost_details String CODEC(ZSTD(1)) AFTER price_version",
  "ADD COLUMN IF NOT EXISTS unpriced LowCardinality(String) AFTER cost_details",
];

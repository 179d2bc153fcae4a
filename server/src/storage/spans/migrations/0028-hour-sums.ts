import { sumsTable } from "./0022-span-sums.ts";
import { onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * The same sums by hour (docs/adr/0033-sums-are-stored-up-to-a-watermark.md). `has_hours` is 1 for a pass that also built the hours. Nodes of
 * earlier versions build none.
 */
export function createHourSums(placement: Placement): string[] {
  return [
    ...sumsTable(placement, "span_hour_sums"),
    `ALTER TABLE span_sum_passes${onCluster(placement)} ADD COLUMN IF NOT EXISTS has_hours UInt8 DEFAULT 0`,
  ];
}

import { onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * Adds the first version that a program must know to use these tables, so that a node of an earlier version can check
 * it.
 */
export function sayWhoRuns(placement: Placement): string[] {
  return [`ALTER TABLE span_migrations${onCluster(placement)} ADD COLUMN IF NOT EXISTS runs_from UInt32 DEFAULT 0`];
}

import { onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/** Adds what tells a node of an earlier version whether it can use these tables: the first version that a program must know. */
export function sayWhoRuns(placement: Placement): string[] {
  return [`ALTER TABLE span_migrations${onCluster(placement)} ADD COLUMN IF NOT EXISTS runs_from UInt32 DEFAULT 0`];
}

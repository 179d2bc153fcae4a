import { localTable, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * Stores the rows of one insert in a compact part, even in engines that give such a part level 1 because the insert has
 * removed superseded rows (docs/adr/0045-inserts-write-compact-parts.md). Merged parts have files for each column.
 */
export function compactInserts(placement: Placement): string[] {
  return [`ALTER TABLE ${localTable(placement)}${onCluster(placement)} MODIFY SETTING min_level_for_wide_part = 2`];
}

import { localTable, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * Parts are wide, with files for each column, from their second merge on: the first merges would make some 150 files each,
 * that the second remove again soon after. See docs/adr/0028.
 */
export function widenPartsLater(placement: Placement): string[] {
  return [`ALTER TABLE ${localTable(placement)}${onCluster(placement)} MODIFY SETTING min_level_for_wide_part = 2`];
}

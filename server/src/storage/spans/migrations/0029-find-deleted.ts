import { localTable, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * Hardly any row is deleted: an index that shows whole ranges without deleted rows lets the purge read only the others.
 * Existing parts get it in the background; until then they are read in full.
 */
export function findDeleted(placement: Placement): string[] {
  const alter = `ALTER TABLE ${localTable(placement)}${onCluster(placement)}`;
  return [
    `${alter} ADD INDEX IF NOT EXISTS is_deleted_minmax is_deleted TYPE minmax GRANULARITY 64`,
    `${alter} MATERIALIZE INDEX is_deleted_minmax SETTINGS mutations_sync = 0`,
  ];
}

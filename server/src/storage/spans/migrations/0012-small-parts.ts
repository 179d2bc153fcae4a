import { localTable, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * Rows arrive in groups of a fraction of a second, each a part of its own, which merges rewrite (docs/adr/0017): so fewer
 * merges, of more parts each, and the indexes of a part in one file. Each file, however small, has to be created,
 * synced and removed.
 *
 * @param isKnown whether the engine has a table setting: older servers lack some, and work without
 */
export function settleSmallParts(placement: Placement, isKnown: (setting: string) => boolean): string[] {
  const settings = smallPartSettings.filter(([name]) => isKnown(name)).map(([name, value]) => `${name} = ${value}`);
  if (settings.length === 0) return [];
  return [`ALTER TABLE ${localTable(placement)}${onCluster(placement)} MODIFY SETTING ${settings.join(", ")}`];
}

export const smallPartSettings: ReadonlyArray<readonly [name: string, value: number]> = [
  // A row is rewritten once for each power of this in the number of parts; about as many parts wait for a merge.
  ["merge_selector_base", 10],
  ["packed_skip_index_max_bytes", 1024 * 1024],
];

import { localTable, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * Rows come in groups of a fraction of a second, each a part of its own, which merges write again (docs/adr/0017): fewer merges,
 * of more parts each, and the indexes of a part in one file. Each file costs its making, a sync and its removal, be it ever
 * so small.
 *
 * @param isKnown whether the engine has a setting of tables: older servers lack some, and go on without
 */
export function settleSmallParts(placement: Placement, isKnown: (setting: string) => boolean): string[] {
  const settings = smallPartSettings.filter(([name]) => isKnown(name)).map(([name, value]) => `${name} = ${value}`);
  if (settings.length === 0) return [];
  return [`ALTER TABLE ${localTable(placement)}${onCluster(placement)} MODIFY SETTING ${settings.join(", ")}`];
}

export const smallPartSettings: ReadonlyArray<readonly [name: string, value: number]> = [
  // A row is written again once for each power of this in the number of parts; about as many parts wait to be merged.
  ["merge_selector_base", 10],
  ["packed_skip_index_max_bytes", 1024 * 1024],
];

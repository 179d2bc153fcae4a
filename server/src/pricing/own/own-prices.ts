import type { LoadedPriceTable, PriceOwner, PriceRevision } from "../../domain/model-price.ts";
import { oneAtATime } from "../../lib/one-at-a-time.ts";
import { pricingLimits } from "../limits.ts";
import type { OwnPrices } from "../price-book.ts";
import type { PriceTable } from "../price-entry.ts";
import type { ModelPriceStore, PriceTableStore } from "./price-stores.ts";
import { PriceList } from "./price-list.ts";
import { readPriceFile } from "./price-file.ts";

/**
 * The prices of all owners and the loaded tables, in memory: prices are looked up for every span, which must not query
 * a database.
 */
export type OwnPriceCache = OwnPrices & {
  /**
   * Loads the changes since the last call: after a change here, and every `pricingLimits.modelPriceRefreshMs` for those
   * of other nodes.
   */
  refresh(): Promise<void>;
  /** The number of prices of all owners. */
  size(): number;
};

export type OwnPriceDeps = {
  modelPrices: Pick<ModelPriceStore, "revisions" | "listSince">;
  priceTables: Pick<PriceTableStore, "list" | "read">;
  /** Called for a loaded table that this version cannot read, which is skipped. */
  onUnreadable: (table: LoadedPriceTable, error: unknown) => void;
};

export function createOwnPrices(deps: OwnPriceDeps): OwnPriceCache {
  const lists = new Map<PriceOwner, { list: PriceList; revision: PriceRevision }>();
  const tables = createLoadedTables(deps);

  const adopt = async (now: PriceRevision): Promise<void> => {
    const before = lists.get(now.owner);
    if (before?.revision.revision === now.revision) return;
    // The list of changes does not contain removals: after one, all prices are read again.
    const isAddition = before !== undefined && before.revision.removals === now.removals;
    const list = isAddition ? before.list : new PriceList({ maxFound: pricingLimits.pricedModels });
    const changed = await deps.modelPrices.listSince(now.owner, isAddition ? before.revision.revision : 0);
    for (const price of changed) list.put(price);
    lists.set(now.owner, { list, revision: now });
  };
  const refresh = async (): Promise<void> => {
    for (const revision of await deps.modelPrices.revisions()) await adopt(revision);
    await tables.refresh();
  };

  return {
    tables: () => tables.current(),
    revision: () => tables.revision(),
    find: (organizationId, model, provider, timestampNs) =>
      lists.size === 0
        ? undefined
        : (lists.get(organizationId)?.list.find(model, provider, timestampNs) ??
          lists.get(null)?.list.find(model, provider, timestampNs)),
    size: () => [...lists.values()].reduce((sum, { list }) => sum + list.size, 0),
    refresh: oneAtATime(refresh),
  };
}

/** The newest table of each format counts, the newest of these first. */
function createLoadedTables({ priceTables, onUnreadable }: Pick<OwnPriceDeps, "priceTables" | "onUnreadable">) {
  let current: readonly PriceTable[] = [];
  let known = "";
  let revision = 0;

  const read = async (loaded: LoadedPriceTable): Promise<PriceTable | undefined> => {
    const content = await priceTables.read(loaded.id);
    try {
      return content === undefined ? undefined : readPriceFile(content, loaded.name).table;
    } catch (error) {
      onUnreadable(loaded, error);
      return undefined;
    }
  };

  return {
    current: () => current,
    revision: () => revision,
    async refresh(): Promise<void> {
      const all = await priceTables.list();
      const newest = all.filter(({ format }, at) => all.findIndex((other) => other.format === format) === at);
      const ids = newest.map(({ id }) => id).join(",");
      if (ids === known) return;
      const tables = await Promise.all(newest.map(read));
      current = tables.filter((table) => table !== undefined);
      known = ids;
      revision += 1;
    },
  };
}

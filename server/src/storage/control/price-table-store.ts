import type { LoadedPriceTable, PriceFileFormat } from "../../domain/model-price.ts";
import { storageLimits } from "../limits.ts";
import type { PriceTableStore } from "../../pricing/own/price-stores.ts";
import type { ControlQueries } from "./open-control-database.ts";

const shown = ["id", "name", "format", "models", "loaded_at"] as const;

export function createPriceTableStore(queries: ControlQueries): PriceTableStore {
  const list = async (): Promise<LoadedPriceTable[]> =>
    (await queries.selectFrom("price_tables").select(shown).orderBy("id", "desc").execute()).map(toTable);

  return {
    list,
    add: async (table) => {
      const row = await queries.insertInto("price_tables").values(table).returning(shown).executeTakeFirstOrThrow();
      for (const { id } of (await list()).slice(storageLimits.priceTables)) {
        await queries.deleteFrom("price_tables").where("id", "=", id).execute();
      }
      return toTable(row);
    },
    read: async (id) =>
      (await queries.selectFrom("price_tables").select("content").where("id", "=", id).executeTakeFirst())?.content,
    removeNewest: async () => {
      const [newest] = await list();
      if (newest !== undefined) await queries.deleteFrom("price_tables").where("id", "=", newest.id).execute();
      return newest;
    },
  };
}

/** Safe because only `add` writes the column. */
function toTable(row: Omit<LoadedPriceTable, "format"> & { format: string }): LoadedPriceTable {
  return { ...row, format: row.format as PriceFileFormat };
}

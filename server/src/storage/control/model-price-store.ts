import { sql } from "kysely";
import type { ModelPrice, ModelPriceFields, PriceOwner } from "../../domain/model-price.ts";
import type { ModelPriceStore } from "../../pricing/own/price-stores.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { ModelPriceRow } from "./schema.ts";

export function createModelPriceStore(queries: ControlQueries): ModelPriceStore {
  const ofOwner = (owner: PriceOwner) => queries.selectFrom("model_prices").where("owner", "=", toColumn(owner));

  return {
    announce: async (owner, { isRemoval }) => {
      const { revision } = await queries
        .insertInto("model_price_revisions")
        .values({ owner: toColumn(owner), revision: 1, removals: isRemoval ? 1 : 0 })
        .onConflict((conflict) =>
          conflict.column("owner").doUpdateSet({
            revision: sql<number>`model_price_revisions.revision + 1`,
            removals: sql<number>`model_price_revisions.removals + excluded.removals`,
          }),
        )
        .returning("revision")
        .executeTakeFirstOrThrow();
      return revision;
    },

    create: async (price, revision) => {
      await queries.insertInto("model_prices").values(toRow(price, revision)).execute();
    },

    list: async (owner, { offset, limit }) => {
      const { count } = await ofOwner(owner)
        .select((column) => column.fn.countAll().as("count"))
        .executeTakeFirstOrThrow();
      const rows = await ofOwner(owner)
        .selectAll()
        .orderBy("created_at")
        .orderBy("id")
        .offset(offset)
        .limit(limit)
        .execute();
      return { count: Number(count), prices: rows.map(toPrice) };
    },

    find: async (owner, id) => {
      const row = await ofOwner(owner).selectAll().where("id", "=", id).executeTakeFirst();
      return row && toPrice(row);
    },

    count: async (owner, exceptId) => {
      const { all, patterns } = await ofOwner(owner)
        .where("id", "!=", exceptId)
        .select((column) => [
          column.fn.countAll().as("all"),
          sql<number | string>`coalesce(sum(case when model_key like '%*%' then 1 else 0 end), 0)`.as("patterns"),
        ])
        .executeTakeFirstOrThrow();
      return { all: Number(all), patterns: Number(patterns) };
    },

    findOverlap: (owner, fields, exceptId) => findOverlap(queries, owner, { fields, exceptId }),

    replace: async (price, revision) => {
      const { id, owner, created_at: _made, ...columns } = toRow(price, revision);
      const { numUpdatedRows } = await queries
        .updateTable("model_prices")
        .set(columns)
        .where("owner", "=", owner)
        .where("id", "=", id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    delete: async (owner, id) => {
      const { numDeletedRows } = await queries
        .deleteFrom("model_prices")
        .where("owner", "=", toColumn(owner))
        .where("id", "=", id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    revisions: async () => {
      const rows = await queries.selectFrom("model_price_revisions").selectAll().execute();
      return rows.map(({ owner, ...revision }) => ({ owner: toOwner(owner), ...revision }));
    },

    listSince: async (owner, revision) => {
      const rows = await ofOwner(owner).selectAll().where("revision", ">", revision).execute();
      return rows.map(toPrice);
    },
  };
}

async function findOverlap(
  queries: ControlQueries,
  owner: PriceOwner,
  { fields, exceptId }: { fields: ModelPriceFields; exceptId: string },
): Promise<ModelPrice | undefined> {
  const { model, provider, valid_from, valid_to } = fields;
  let same = queries
    .selectFrom("model_prices")
    .selectAll()
    .where("owner", "=", toColumn(owner))
    .where("model_key", "=", model.toLowerCase())
    .where("provider", "=", provider)
    .where("id", "!=", exceptId);
  if (valid_to !== null) {
    same = same.where((row) => row.or([row("valid_from", "is", null), row("valid_from", "<", valid_to)]));
  }
  if (valid_from !== null) {
    same = same.where((row) => row.or([row("valid_to", "is", null), row("valid_to", ">", valid_from)]));
  }
  const row = await same.limit(1).executeTakeFirst();
  return row && toPrice(row);
}

function toColumn(owner: PriceOwner): string {
  return owner ?? "";
}

function toOwner(column: string): PriceOwner {
  return column === "" ? null : column;
}

function toRow({ unique_organization_id, rates, ...fields }: ModelPrice, revision: number): ModelPriceRow {
  return {
    ...fields,
    owner: toColumn(unique_organization_id),
    model_key: fields.model.toLowerCase(),
    rates: JSON.stringify(rates),
    revision,
  };
}

/** Safe because only `toRow` writes the columns. */
function toPrice({ owner, model_key: _key, revision: _revision, rates, ...fields }: ModelPriceRow): ModelPrice {
  return { ...fields, unique_organization_id: toOwner(owner), rates: JSON.parse(rates) as Record<string, number> };
}

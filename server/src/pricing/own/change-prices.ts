import { randomUUID } from "node:crypto";
import { ServiceError } from "../../domain/errors.ts";
import type { ModelPrice, ModelPriceFields, PriceOwner } from "../../domain/model-price.ts";
import { pricingLimits } from "../limits.ts";
import { tableName } from "../providers.ts";
import type { ModelPriceStore } from "./price-stores.ts";
import { wildcardsOf } from "./model-pattern.ts";

/**
 * Creates, changes and deletes prices of one owner, one change at a time across all nodes.
 *
 * @throws ServiceError `not_found`; `conflict` if another price of the model applies at the same time, or there are too
 * many
 */
export type PriceChanges = {
  create(owner: PriceOwner, fields: ModelPriceFields): Promise<ModelPrice>;
  update(owner: PriceOwner, id: string, change: Partial<ModelPriceFields>): Promise<ModelPrice>;
  delete(owner: PriceOwner, id: string): Promise<void>;
};

export function createPriceChanges({
  stores,
  now,
}: {
  stores: { transaction: <T>(work: (stores: { modelPrices: ModelPriceStore }) => Promise<T>) => Promise<T> };
  now: () => number;
}): PriceChanges {
  return {
    create: (owner, given) =>
      stores.transaction(async ({ modelPrices }) => {
        checkFields(given);
        const fields = { ...given, provider: asTablesCallIt(given.provider) };
        const at = new Date(now()).toISOString();
        const price = { id: randomUUID(), unique_organization_id: owner, ...fields, created_at: at, updated_at: at };
        const revision = await modelPrices.announce(owner, { isRemoval: false });
        await checkRoom(modelPrices, price);
        await modelPrices.create(price, revision);
        return price;
      }),

    update: (owner, id, change) =>
      stores.transaction(async ({ modelPrices }) => {
        const revision = await modelPrices.announce(owner, { isRemoval: false });
        const before = await modelPrices.find(owner, id);
        if (before === undefined) throw notFound();
        const price = { ...before, ...change, updated_at: new Date(now()).toISOString() };
        price.provider = asTablesCallIt(price.provider);
        checkFields(price);
        await checkRoom(modelPrices, price);
        await modelPrices.replace(price, revision);
        return price;
      }),

    delete: (owner, id) =>
      stores.transaction(async ({ modelPrices }) => {
        await modelPrices.announce(owner, { isRemoval: true });
        if (!(await modelPrices.delete(owner, id))) throw notFound();
      }),
  };
}

/** Otherwise two names of one provider could hide that two prices apply at the same time. */
function asTablesCallIt(provider: string): string {
  return provider === "" ? "" : tableName(provider);
}

/**
 * A pattern that matches every model would give the models of all providers the same price, which is never intended.
 */
function checkFields({ model, provider, valid_from, valid_to }: ModelPriceFields): void {
  if (wildcardsOf(model) > pricingLimits.modelPriceWildcards) {
    throw invalid("model", `may have at most ${pricingLimits.modelPriceWildcards} *`);
  }
  if (/^[*\s/.:_-]*$/.test(model) && provider === "") {
    throw invalid("model", "fits every model of every provider: name a provider, or more of the model");
  }
  if (valid_from !== null && valid_to !== null && valid_to <= valid_from) {
    throw invalid("valid_to", "must be after valid_from");
  }
}

async function checkRoom(modelPrices: ModelPriceStore, price: ModelPrice): Promise<void> {
  const { id, unique_organization_id: owner } = price;
  const { all, patterns } = await modelPrices.count(owner, id);
  if (all >= pricingLimits.modelPrices)
    throw new ServiceError("conflict", `There are ${pricingLimits.modelPrices} model prices already.`);
  if (wildcardsOf(price.model) > 0 && patterns >= pricingLimits.modelPricePatterns) {
    throw new ServiceError("conflict", `There are ${pricingLimits.modelPricePatterns} model prices with a * already.`);
  }
  const other = await modelPrices.findOverlap(owner, price, id);
  if (other === undefined) return;
  const from = other.valid_from ?? "the beginning";
  const message = `${other.id} has a price of this model and provider from ${from} to ${other.valid_to ?? "for ever"}`;
  throw new ServiceError("conflict", `The price ${message}: end it first, or change it.`, {
    errors: { valid_from: [message] },
  });
}

function notFound(): ServiceError {
  return new ServiceError("not_found", "There is no such model price.");
}

function invalid(field: string, message: string): ServiceError {
  return new ServiceError("invalid_request", `${field} ${message}.`, { errors: { [field]: [message] } });
}

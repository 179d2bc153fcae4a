import { z } from "zod";
import type { ModelPrice } from "../../domain/model-price.ts";
import type { PriceChanges } from "../../pricing/own/change-prices.ts";
import type { OwnPriceCache } from "../../pricing/own/own-prices.ts";
import type { ModelPriceStore } from "../../pricing/own/price-stores.ts";

export type ModelPriceDeps = {
  modelPrices: Pick<ModelPriceStore, "list" | "find">;
  priceChanges: PriceChanges;
  /** Used for computing costs; refreshed after every change. */
  ownPrices: Pick<OwnPriceCache, "refresh">;
};

const time = z.string().meta({ format: "date-time" });

export const modelPriceSchema = z
  .object({
    id: z.string(),
    model: z.string(),
    provider: z.string(),
    rates: z.record(z.string(), z.number()).meta({ description: "USD per million tokens, or per unit, by bucket." }),
    valid_from: time.nullable(),
    valid_to: time.nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "ModelPrice" });

export const modelPriceParams = z.object({ id: z.uuid() });

export function presentPrice({
  unique_organization_id: _owner,
  ...price
}: ModelPrice): z.input<typeof modelPriceSchema> {
  return price;
}

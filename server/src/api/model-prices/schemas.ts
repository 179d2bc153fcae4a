import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import type { ModelPrice, PriceOwner } from "../../domain/model-price.ts";
import type { Principal } from "../../domain/principal.ts";
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

/** Whose prices a request reads or changes. */
export const priceScope = {
  scope: z
    .enum(["organization", "instance"], { error: "scope must be organization or instance" })
    .default("organization")
    .meta({ description: "`instance`: the prices of all organizations, for instance admins who are signed in." }),
};

/** @throws ServiceError `forbidden` */
export function priceOwner(principal: Principal, { scope }: { scope: "organization" | "instance" }): PriceOwner {
  if (scope === "organization") return principal.organization_id;
  if (principal.kind === "user" && principal.is_instance_admin) return null;
  throw new ServiceError("forbidden", "Only an instance admin who is signed in uses scope=instance.");
}

export const modelPriceParams = z.object({ id: z.uuid() });

export function presentPrice({
  unique_organization_id: _owner,
  ...price
}: ModelPrice): z.input<typeof modelPriceSchema> {
  return price;
}

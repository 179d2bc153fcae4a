import { ServiceError } from "../../domain/errors.ts";
import type { ModelPrice, PriceOwner } from "../../domain/model-price.ts";
import type { ModelPriceDeps } from "./schemas.ts";

/** @throws ServiceError `not_found` */
export async function requirePrice(
  { modelPrices }: Pick<ModelPriceDeps, "modelPrices">,
  owner: PriceOwner,
  id: string,
): Promise<ModelPrice> {
  const price = await modelPrices.find(owner, id);
  if (price === undefined) throw new ServiceError("not_found", "There is no such model price.");
  return price;
}

import { ServiceError } from "../../domain/errors.ts";
import type { ModelPrice } from "../../domain/model-price.ts";
import type { ModelPriceDeps } from "./schemas.ts";

/** @throws ServiceError `not_found` */
export async function requirePrice(
  { modelPrices }: Pick<ModelPriceDeps, "modelPrices">,
  organizationId: string,
  id: string,
): Promise<ModelPrice> {
  const price = await modelPrices.find(organizationId, id);
  if (price === undefined) throw new ServiceError("not_found", "There is no such model price.");
  return price;
}

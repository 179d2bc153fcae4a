import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import {
  modelPriceParams,
  modelPriceSchema,
  presentPrice,
  priceOwner,
  priceScope,
  type ModelPriceDeps,
} from "./schemas.ts";
import { requirePrice } from "./require-price.ts";

export const retrieveModelPrice = (deps: Pick<ModelPriceDeps, "modelPrices">) =>
  endpoint({
    id: "retrieve_model_price",
    method: "GET",
    path: "/api/model-prices/{id}/",
    summary: "Retrieve a model price",
    tags: ["Model prices"],
    auth: "key_or_user",
    permission: "prices:read",
    limit: "api",
    params: modelPriceParams,
    query: z.object(priceScope),
    success: { status: 200, schema: modelPriceSchema },
    errors: ["forbidden", "not_found"],
    handler: async ({ principal, params, query }) =>
      presentPrice(await requirePrice(deps, priceOwner(principal, query), params.id)),
  });

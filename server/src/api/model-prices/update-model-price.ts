import { z } from "zod";
import { requireOwnEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { modelPriceFields } from "../../pricing/own/price-fields.ts";
import { definedFields } from "../../lib/defined-fields.ts";
import {
  modelPriceParams,
  modelPriceSchema,
  presentPrice,
  priceOwner,
  priceScope,
  type ModelPriceDeps,
} from "./schemas.ts";
import { requirePrice } from "./require-price.ts";

export const updateModelPrice = (deps: ModelPriceDeps) =>
  endpoint({
    id: "update_model_price",
    method: "PATCH",
    path: "/api/model-prices/{id}/",
    summary: "Change a model price",
    description:
      "Omitted members keep their value; `rates` is replaced as a whole. To keep the old price for earlier calls, set its `valid_to` " +
      "and create a new price. Other nodes follow within 2 seconds.",
    tags: ["Model prices"],
    auth: "key_or_user",
    permission: "prices:write",
    environment: "own",
    limit: "api",
    params: modelPriceParams,
    query: z.object(priceScope),
    body: {
      kind: "json",
      schema: z.object(modelPriceFields).partial(),
      shown: modelPriceSchema,
      example: { rates: { input: 0.4, cache_read: 0.04, output: 1.6 } },
    },
    success: { status: 200, schema: modelPriceSchema },
    errors: ["invalid_request", "forbidden", "not_found", "conflict"],
    handler: async ({ principal, params, query, body }) => {
      const owner = priceOwner(principal, query);
      await requirePrice(deps, owner, params.id);
      requireOwnEnvironment(principal, null, "a model price");
      const price = await deps.priceChanges.update(owner, params.id, definedFields(body));
      await deps.ownPrices.refresh();
      return presentPrice(price);
    },
  });

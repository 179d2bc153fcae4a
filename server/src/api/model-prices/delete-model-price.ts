import { z } from "zod";
import { requireOwnEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { modelPriceParams, priceOwner, priceScope, type ModelPriceDeps } from "./schemas.ts";
import { requirePrice } from "./require-price.ts";

export const deleteModelPrice = (deps: ModelPriceDeps) =>
  endpoint({
    id: "delete_model_price",
    method: "DELETE",
    path: "/api/model-prices/{id}/",
    summary: "Delete a model price",
    description: "The price table applies again to later data. Other nodes follow within 2 seconds.",
    tags: ["Model prices"],
    auth: "key_or_user",
    permission: "prices:write",
    environment: "own",
    limit: "api",
    params: modelPriceParams,
    query: z.object(priceScope),
    success: { status: 204 },
    errors: ["forbidden", "not_found"],
    handler: async ({ principal, params, query }) => {
      const owner = priceOwner(principal, query);
      await requirePrice(deps, owner, params.id);
      requireOwnEnvironment(principal, null, "a model price");
      await deps.priceChanges.delete(owner, params.id);
      await deps.ownPrices.refresh();
      return reply(204);
    },
  });

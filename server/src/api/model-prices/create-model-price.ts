import { z } from "zod";
import { requireOwnEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { newModelPriceSchema } from "../../pricing/own/price-fields.ts";
import { modelPriceSchema, presentPrice, priceOwner, priceScope, type ModelPriceDeps } from "./schemas.ts";

export const createModelPrice = (deps: ModelPriceDeps) =>
  endpoint({
    id: "create_model_price",
    method: "POST",
    path: "/api/model-prices/",
    summary: "Create a model price",
    description:
      "It takes precedence over the built-in price table, in both environments, for all later data: for every span without a " +
      "stated cost, gateway call, budget and judge. Earlier spans keep their cost (see reprice). No surcharge for a service tier " +
      "or a region is added. Other nodes apply it within 2 seconds.",
    tags: ["Model prices"],
    auth: "key_or_user",
    permission: "prices:write",
    environment: "own",
    limit: "api",
    query: z.object(priceScope),
    body: {
      kind: "json",
      schema: newModelPriceSchema,
      shown: modelPriceSchema,
      example: { model: "lab-1", provider: "my-lab", rates: { input: 0.5, cache_read: 0.05, output: 2 } },
    },
    success: { status: 201, schema: modelPriceSchema },
    errors: ["invalid_request", "forbidden", "conflict"],
    handler: async ({ principal, query, body }) => {
      requireOwnEnvironment(principal, null, "a model price");
      const price = await deps.priceChanges.create(priceOwner(principal, query), body);
      await deps.ownPrices.refresh();
      return presentPrice(price);
    },
  });

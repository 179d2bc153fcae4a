import { endpoint } from "../../http/endpoint.ts";
import { modelPriceParams, modelPriceSchema, presentPrice, type ModelPriceDeps } from "./schemas.ts";
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
    success: { status: 200, schema: modelPriceSchema },
    errors: ["not_found"],
    handler: async ({ principal, params }) =>
      presentPrice(await requirePrice(deps, principal.organization_id, params.id)),
  });

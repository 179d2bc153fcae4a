import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import { modelPriceSchema, presentPrice, type ModelPriceDeps } from "./schemas.ts";

export const listModelPrices = (deps: Pick<ModelPriceDeps, "modelPrices">) =>
  endpoint({
    id: "list_model_prices",
    method: "GET",
    path: "/api/model-prices/",
    summary: "List the organization's own model prices",
    description: "Oldest first. Prices that the operator states for all organizations are not included.",
    tags: ["Model prices"],
    auth: "key_or_user",
    permission: "prices:read",
    limit: "api",
    query: z.object(pagingQuery()),
    success: { status: 200, schema: pageOf(modelPriceSchema) },
    errors: [],
    handler: async ({ principal, query, url }) => {
      const { page, page_size: pageSize } = query;
      const range = { offset: (page - 1) * pageSize, limit: pageSize };
      const { count, prices } = await deps.modelPrices.list(principal.organization_id, range);
      return paginate({ url, query, page, pageSize, count, results: prices.map(presentPrice) });
    },
  });

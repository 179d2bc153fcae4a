import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import { modelPriceSchema, presentPrice, priceOwner, priceScope, type ModelPriceDeps } from "./schemas.ts";

export const listModelPrices = (deps: Pick<ModelPriceDeps, "modelPrices">) =>
  endpoint({
    id: "list_model_prices",
    method: "GET",
    path: "/api/model-prices/",
    summary: "List model prices",
    description: "The organization's own, oldest first; those for all organizations with `scope=instance`.",
    tags: ["Model prices"],
    auth: "key_or_user",
    permission: "prices:read",
    limit: "api",
    query: z.object({ ...priceScope, ...pagingQuery() }),
    success: { status: 200, schema: pageOf(modelPriceSchema) },
    errors: ["forbidden"],
    handler: async ({ principal, query, url }) => {
      const { page, page_size: pageSize } = query;
      const range = { offset: (page - 1) * pageSize, limit: pageSize };
      const { count, prices } = await deps.modelPrices.list(priceOwner(principal, query), range);
      return paginate({ url, query, page, pageSize, count, results: prices.map(presentPrice) });
    },
  });

import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import type { ApiKeyStore } from "../../storage/control/api-key-store.ts";
import { apiKeySchema, presentApiKey } from "./schemas.ts";

export const listApiKeys = (deps: { apiKeys: Pick<ApiKeyStore, "list">; nowMs: () => number }) =>
  endpoint({
    id: "list_api_keys",
    method: "GET",
    path: "/api/api-keys/",
    summary: "List the organization's API keys",
    description: "Oldest first, without expired and temporary ones. The keys themselves are not stored.",
    tags: ["API keys"],
    auth: "user",
    permission: "keys:manage",
    limit: "api",
    query: z.object(pagingQuery()),
    success: { status: 200, schema: pageOf(apiKeySchema) },
    errors: [],
    handler: async ({ principal, query, url }) => {
      // At most `limits.apiKeysPerOrganization` rows, so the page is sliced here.
      const keys = await deps.apiKeys.list(principal.organization_id, new Date(deps.nowMs()).toISOString());
      const start = (query.page - 1) * query.page_size;
      const results = keys.slice(start, start + query.page_size).map(presentApiKey);
      return paginate({ url, query, page: query.page, pageSize: query.page_size, count: keys.length, results });
    },
  });

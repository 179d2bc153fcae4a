import { z } from "zod";
import type { ProviderSettings } from "../../gateway/credentials/provider-settings.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import type { RefusalOf } from "../../outgoing/refused-address.ts";
import { presentSetting, settingSchema } from "./schemas.ts";

export const listProviders = (deps: { providerSettings: Pick<ProviderSettings, "list">; refusalOf: RefusalOf }) =>
  endpoint({
    id: "list_providers",
    method: "GET",
    path: "/api/providers/",
    summary: "List the organization's provider settings",
    description: "Oldest first, from both environments, without secrets.",
    tags: ["Providers"],
    auth: "key",
    permission: "providers:read",
    limit: "api",
    query: z.object(pagingQuery()),
    success: { status: 200, schema: pageOf(settingSchema) },
    errors: [],
    handler: async ({ principal, query, url }) => {
      // At most `limits.providerSettings` rows, so the page is sliced here.
      const settings = await deps.providerSettings.list(principal.organization_id);
      const start = (query.page - 1) * query.page_size;
      const results = settings.slice(start, start + query.page_size).map((setting) => presentSetting(setting, deps));
      return paginate({ url, query, page: query.page, pageSize: query.page_size, count: settings.length, results });
    },
  });

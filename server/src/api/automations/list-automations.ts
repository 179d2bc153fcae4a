import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import { apiLimits } from "../limits.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { automationSchema, describeAutomations } from "./automation-schemas.ts";

const listQuery = z.object({
  ...pagingQuery(apiLimits.conditionPageSizeDefault),
  search: z.string().optional().meta({ description: "Part of the name or the slug, case-insensitive." }),
  is_enabled: z.stringbool().optional(),
});

export const listAutomations = ({ stores }: { stores: ControlStores }) =>
  endpoint({
    id: "list_automations",
    method: "GET",
    path: "/automation/automations/",
    aliases: ["/api/automations/"],
    summary: "List automations",
    description: "Newest first, from both environments.",
    tags: ["Automations"],
    auth: "key",
    permission: "automations:read",
    limit: "api",
    query: listQuery,
    success: { status: 200, schema: pageOf(automationSchema) },
    errors: ["invalid_request"],
    handler: async ({ principal, query, url }) => {
      const { page, page_size: pageSize, search = "", is_enabled: isEnabled } = query;
      const needle = search.toLowerCase();
      // An organization has a bounded number of automations, so the page is sliced here.
      const all = (await stores.automations.list(principal.organization_id)).filter(
        (automation) =>
          [automation.name, automation.automation_slug].some((text) => text.toLowerCase().includes(needle)) &&
          (isEnabled === undefined || automation.is_enabled === isEnabled),
      );
      const rows = all.slice((page - 1) * pageSize, page * pageSize);
      const results = await describeAutomations(stores, principal.organization_id, rows);
      return paginate({ url, query, page, pageSize, count: all.length, results });
    },
  });

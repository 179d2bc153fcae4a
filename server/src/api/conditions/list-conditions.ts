import { z } from "zod";
import type { Condition } from "../../domain/condition.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import { apiLimits } from "../limits.ts";
import type { ConditionStore } from "../../storage/control/condition-store.ts";
import { conditionSchema, presentCondition } from "./condition-schemas.ts";

const listQuery = z.object({
  ...pagingQuery(apiLimits.conditionPageSizeDefault),
  search: z.string().optional().meta({ description: "Part of the name or the slug, case-insensitive." }),
  condition_type: z.string().optional(),
});

export const listConditions = (deps: { conditions: Pick<ConditionStore, "list"> }) =>
  endpoint({
    id: "list_conditions",
    method: "GET",
    path: "/automation/conditions/",
    aliases: ["/api/conditions/"],
    summary: "List conditions",
    description: "Newest first. `filters_data` contains the applied filters of the query.",
    tags: ["Automations"],
    auth: "key",
    permission: "automations:read",
    limit: "api",
    query: listQuery,
    success: {
      status: 200,
      schema: pageOf(conditionSchema).extend({ filters_data: z.record(z.string(), z.string()) }),
    },
    errors: ["invalid_request"],
    handler: async ({ principal, query, url }) => {
      const { page, page_size: pageSize, ...filters } = query;
      const applied = Object.fromEntries(
        Object.entries(filters).flatMap(([name, value = ""]) => (value === "" ? [] : [[name, value]])),
      );
      // An organization has a bounded number of conditions, so the page is sliced here.
      const all = (await deps.conditions.list(principal.organization_id)).filter((row) => isWanted(row, filters));
      const results = all.slice((page - 1) * pageSize, page * pageSize).map(presentCondition);
      return { ...paginate({ url, query, page, pageSize, count: all.length, results }), filters_data: applied };
    },
  });

function isWanted(
  condition: Condition,
  { search = "", condition_type: type = "" }: { search?: string | undefined; condition_type?: string | undefined },
): boolean {
  const needle = search.toLowerCase();
  const isFound = [condition.name, condition.condition_slug].some((text) => text.toLowerCase().includes(needle));
  return isFound && (type === "" || type === condition.condition_type);
}

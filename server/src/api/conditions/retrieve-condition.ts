import { endpoint } from "../../http/endpoint.ts";
import type { ConditionStore } from "../../storage/control/condition-store.ts";
import { conditionNotFound, conditionSchema, presentCondition } from "./condition-schemas.ts";

export const retrieveCondition = (deps: { conditions: Pick<ConditionStore, "find"> }) =>
  endpoint({
    id: "retrieve_condition",
    method: "GET",
    path: "/automation/conditions/{condition_id}/",
    aliases: ["/api/conditions/{condition_id}/"],
    summary: "Retrieve a condition",
    description: "By id or slug.",
    tags: ["Automations"],
    auth: "key",
    permission: "automations:read",
    limit: "api",
    success: { status: 200, schema: conditionSchema },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      const condition = await deps.conditions.find(principal.organization_id, params.condition_id);
      if (condition === undefined) throw conditionNotFound();
      return presentCondition(condition);
    },
  });

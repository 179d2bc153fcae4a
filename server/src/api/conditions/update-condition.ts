import type { SpanRow } from "../../domain/span.ts";
import type { ActiveAutomations } from "../../evaluation/active-automations.ts";
import { checkPolicy } from "../../evaluation/read-policy.ts";
import type { Catalogue } from "../../filter/catalogue.ts";
import { endpoint } from "../../http/endpoint.ts";
import { definedFields } from "../../lib/defined-fields.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { refuseUseElsewhere } from "../automations/refuse-use-elsewhere.ts";
import { conditionChangeSchema, conditionNotFound, conditionSchema, presentCondition } from "./condition-schemas.ts";

export const updateCondition = (deps: {
  stores: Pick<ControlStores, "transaction">;
  activeAutomations: Pick<ActiveAutomations, "refresh">;
  catalogue: Catalogue<SpanRow>;
  nowMs: () => number;
}) =>
  endpoint({
    id: "update_condition",
    method: "PATCH",
    path: "/automation/conditions/{condition_id}/",
    aliases: ["/api/conditions/{condition_id}/"],
    summary: "Change a condition",
    description:
      "By id or slug. Omitted members keep their value; automations that use it apply the change to later logs.",
    tags: ["Automations"],
    auth: "key",
    permission: "automations:write",
    environment: "own",
    limit: "api",
    dialect: "fields",
    body: {
      kind: "json",
      schema: conditionChangeSchema,
      shown: conditionSchema,
      example: { name: "Answers that cost more than a cent" },
    },
    success: { status: 200, schema: conditionSchema },
    errors: ["invalid_request", "not_found"],
    handler: async ({ principal, params, body }) => {
      const organization = principal.organization_id;
      const changed = await deps.stores.transaction(async ({ conditions, organizations }) => {
        await organizations.lock(organization);
        const found = await conditions.find(organization, params.condition_id);
        if (found === undefined) throw conditionNotFound();
        refuseUseElsewhere(principal, await conditions.usedBy(found.id));
        const { condition_policy: policy, ...texts } = body;
        return conditions.update(organization, found.id, {
          ...definedFields(texts),
          ...(policy !== undefined && { condition_policy: checkPolicy(policy, deps.catalogue) }),
          updated_at: new Date(deps.nowMs()).toISOString(),
        });
      });
      if (changed === undefined) throw conditionNotFound();
      await deps.activeAutomations.refresh();
      return presentCondition(changed);
    },
  });

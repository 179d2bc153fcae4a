import { z } from "zod";
import { requireOwnEnvironment } from "../../domain/principal.ts";
import type { Automation, AutomationConfiguration } from "../../domain/automation.ts";
import { endpoint } from "../../http/endpoint.ts";
import { definedFields } from "../../lib/defined-fields.ts";
import type { ControlStoreSet } from "../../storage/control/control-stores.ts";
import { nameSchema } from "../organizations/schemas.ts";
import {
  automationNotFound,
  automationSchema,
  configurationChangeSchema,
  describeAutomations,
  evaluatorIdsSchema,
  requireCondition,
  requireEvaluators,
} from "./automation-schemas.ts";
import { withoutEvaluators, type AutomationDeps } from "./create-automation.ts";

const automationChangeSchema = z.object({
  name: nameSchema.optional(),
  condition: z.string().optional().meta({ description: "Id or slug of the condition." }),
  is_enabled: z.boolean().optional(),
  configuration: configurationChangeSchema.optional(),
  evaluator_ids: evaluatorIdsSchema.optional(),
});

export const updateAutomation = ({ stores, activeAutomations, nowMs }: AutomationDeps) =>
  endpoint({
    id: "update_automation",
    method: "PATCH",
    path: "/automation/automations/{automation_id}/",
    aliases: ["/api/automations/{automation_id}/"],
    summary: "Change an automation",
    description:
      "By id or slug. Omitted members keep their value; `configuration` is merged with the stored one, `evaluator_ids` replaces " +
      "the whole list. Disabling an automation also discards its waiting logs.",
    tags: ["Automations"],
    auth: "key",
    permission: "automations:write",
    environment: "own",
    limit: "api",
    dialect: "fields",
    body: {
      kind: "json",
      schema: automationChangeSchema,
      shown: automationSchema,
      example: { is_enabled: false, configuration: { sampling_rate: 0.1 } },
    },
    success: { status: 200, schema: automationSchema },
    errors: ["invalid_request", "not_found"],
    handler: async ({ principal, params, body }) => {
      const organization = principal.organization_id;
      const updated_at = new Date(nowMs()).toISOString();
      const changed = await stores.transaction(async (set) => {
        await set.organizations.lock(organization);
        const found = await set.automations.find(organization, params.automation_id);
        if (found === undefined) throw automationNotFound();
        requireOwnEnvironment(principal, found.environment, "this automation");
        return set.automations.update(organization, found.id, { ...(await readChange(set, found, body)), updated_at });
      });
      if (changed === undefined) throw automationNotFound();
      await activeAutomations.refresh();
      const [shown] = await describeAutomations(stores, organization, [changed]);
      if (shown === undefined) throw automationNotFound();
      return shown;
    },
  });

async function readChange(
  { conditions, evaluators }: Pick<ControlStoreSet, "conditions" | "evaluators">,
  automation: Automation,
  { condition: conditionId, configuration, ...fields }: z.output<typeof automationChangeSchema>,
) {
  const organization = automation.unique_organization_id;
  const sent = fields.evaluator_ids ?? configuration?.evaluator_ids;
  const evaluator_ids = sent && (await requireEvaluators(evaluators, organization, sent));
  const condition =
    conditionId === undefined ? undefined : await requireCondition(conditions, organization, conditionId);
  return {
    ...definedFields({ ...fields, evaluator_ids }),
    ...(condition && { condition_id: condition.id }),
    ...(configuration && { configuration: mergeConfiguration(automation.configuration, configuration) }),
  };
}

function mergeConfiguration(
  before: AutomationConfiguration,
  change: z.output<typeof configurationChangeSchema>,
): AutomationConfiguration {
  const { daily_budget: budget, ...others } = { ...before, ...definedFields(withoutEvaluators(change)) };
  return { ...others, ...(budget !== null && budget !== undefined && { daily_budget: budget }) };
}

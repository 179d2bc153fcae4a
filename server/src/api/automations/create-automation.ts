import { randomUUID } from "node:crypto";
import { z } from "zod";
import { automationTypes } from "../../domain/automation.ts";
import type { ActiveAutomations } from "../../evaluation/active-automations.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { slugSchema } from "../conditions/condition-schemas.ts";
import { nameSchema } from "../organizations/schemas.ts";
import {
  automationSchema,
  describeAutomations,
  evaluatorIdsSchema,
  newConfigurationSchema,
  requireCondition,
  requireEvaluators,
} from "./automation-schemas.ts";

const automationExample = {
  name: "Judge what costs more than a cent",
  automation_slug: "judge-dear-answers",
  automation_type: "online_eval",
  condition: "dear-answers",
  evaluator_ids: ["helpfulness"],
  configuration: { sampling_rate: 0.5 },
  is_enabled: true,
};

const newAutomationSchema = z.object({
  automation_slug: slugSchema,
  name: nameSchema,
  automation_type: z.enum(automationTypes),
  condition: z.string().meta({ description: "Id or slug of the condition." }),
  evaluator_ids: evaluatorIdsSchema,
  configuration: newConfigurationSchema,
  is_enabled: z.boolean().default(false).meta({ description: "A disabled automation evaluates nothing." }),
});

export type AutomationDeps = {
  stores: ControlStores;
  activeAutomations: Pick<ActiveAutomations, "refresh">;
  nowMs: () => number;
};

export const createAutomation = ({ stores, activeAutomations, nowMs }: AutomationDeps) =>
  endpoint({
    id: "create_automation",
    method: "POST",
    path: "/automation/automations/",
    aliases: ["/api/automations/"],
    summary: "Create an automation",
    description:
      "The evaluators score every log of the key's environment that matches the condition and is in the sample, once " +
      "each. The slug is unique in the organization and cannot be changed.",
    tags: ["Automations"],
    auth: "key",
    permission: "automations:write",
    limit: "api",
    dialect: "fields",
    body: { kind: "json", schema: newAutomationSchema, shown: automationSchema, example: automationExample },
    success: { status: 201, schema: automationSchema },
    errors: ["invalid_request", "conflict"],
    handler: async ({ principal, body }) => {
      const { organization_id: organization, environment } = principal;
      const { condition: conditionId, ...fields } = body;
      const now = new Date(nowMs()).toISOString();
      const created = await stores.transaction(async ({ automations, conditions, evaluators, organizations }) => {
        await organizations.lock(principal.organization_id);
        const condition = await requireCondition(conditions, organization, conditionId);
        const evaluator_ids = await requireEvaluators(evaluators, organization, fields.evaluator_ids);
        return automations.create({
          ...fields,
          evaluator_ids,
          id: randomUUID(),
          unique_organization_id: organization,
          environment,
          condition_id: condition.id,
          configuration: withoutEvaluators(fields.configuration),
          created_at: now,
          updated_at: now,
        });
      });
      await activeAutomations.refresh();
      const [shown] = await describeAutomations(stores, organization, [created]);
      if (shown === undefined) throw new Error("an automation lost its condition while it was made");
      return shown;
    },
  });

/** The list of evaluators is stored beside the configuration, and only shown in it. */
export function withoutEvaluators<T extends Record<string, unknown>>(configuration: T): T {
  const stored = { ...configuration };
  delete stored["evaluator_ids"];
  return stored;
}

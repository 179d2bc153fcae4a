import { randomUUID } from "node:crypto";
import { conditionTypes, type ConditionType } from "../../domain/condition.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { SpanRow } from "../../domain/span.ts";
import { checkPolicy } from "../../evaluation/read-policy.ts";
import type { Catalogue } from "../../filter/catalogue.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { ConditionStore } from "../../storage/control/condition-store.ts";
import { conditionSchema, newConditionSchema, presentCondition } from "./condition-schemas.ts";

const conditionExample = {
  name: "Dear answers",
  condition_slug: "dear-answers",
  condition_type: "single_log",
  condition_policy: { rules: [{ field: "cost", operator: "greater_than", value: 0.01 }], connector: "AND" },
};

export const createCondition = (deps: {
  conditions: Pick<ConditionStore, "create">;
  catalogue: Catalogue<SpanRow>;
  nowMs: () => number;
}) =>
  endpoint({
    id: "create_condition",
    method: "POST",
    path: "/automation/conditions/",
    aliases: ["/api/conditions/"],
    summary: "Create a condition",
    description: "Selects the logs of an automation. The slug is unique in the organization and cannot be changed.",
    tags: ["Automations"],
    auth: "key",
    permission: "automations:write",
    limit: "api",
    dialect: "fields",
    body: { kind: "json", schema: newConditionSchema, shown: conditionSchema, example: conditionExample },
    success: { status: 201, schema: conditionSchema },
    errors: ["invalid_request", "validation_failed", "conflict"],
    handler: async ({ principal, body }) => {
      const now = new Date(deps.nowMs()).toISOString();
      const condition = {
        ...body,
        id: randomUUID(),
        unique_organization_id: principal.organization_id,
        condition_type: readType(body.condition_type),
        condition_policy: checkPolicy(body.condition_policy, deps.catalogue),
        created_at: now,
        updated_at: now,
      };
      return presentCondition(await deps.conditions.create(condition));
    },
  });

function readType(type: string): ConditionType {
  const known = conditionTypes.find((name) => name === type);
  if (known !== undefined) return known;
  const message = `condition_type must be one of ${conditionTypes.join(", ")}`;
  throw new ServiceError("validation_failed", message, { errors: { condition_type: [message] } });
}

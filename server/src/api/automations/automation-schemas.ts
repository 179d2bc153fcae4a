import { z } from "zod";
import { automationTypes, type Automation } from "../../domain/automation.ts";
import type { Condition } from "../../domain/condition.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { Evaluator } from "../../domain/evaluator.ts";
import { environments } from "../../domain/principal.ts";
import { omit } from "../../lib/omit.ts";
import { apiLimits } from "../limits.ts";
import { domainLimits } from "../../domain/limits.ts";
import { pricingLimits } from "../../pricing/limits.ts";
import type { ControlStoreSet } from "../../storage/control/control-stores.ts";
import { conditionSchema } from "../conditions/condition-schemas.ts";

const samplingRate = z
  .number({ error: "sampling_rate must be a number from 0.0 to 1.0" })
  .min(0, "sampling_rate must be from 0.0 to 1.0")
  .max(1, "sampling_rate must be from 0.0 to 1.0")
  .meta({ description: "Share of the matching logs that is evaluated; the decision for a log never changes." });

const dailyBudget = z
  .number()
  .min(0)
  .max(pricingLimits.costUsdMax)
  .meta({ description: "USD that model judges may cost per UTC day. Default: SPANWAY_AUTOMATION_DAILY_BUDGET." });

/** Other members are stored as sent; `evaluator_ids` is that of the automation. */
export const newConfigurationSchema = z.looseObject({
  sampling_rate: samplingRate,
  daily_budget: dailyBudget.optional(),
});

// One message for the whole list, under its own name.
const texts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((id) => typeof id === "string");
export const evaluatorIdsSchema = z
  .custom<string[]>(texts, "evaluator_ids must be a list of evaluator ids")
  .refine((ids) => ids.length > 0, "At least one evaluator is required.")
  .refine(
    (ids) => ids.length <= apiLimits.evaluatorsPerAutomation,
    `At most ${apiLimits.evaluatorsPerAutomation} evaluators.`,
  )
  .transform((ids) => [...new Set(ids)])
  .meta({
    type: "array",
    items: { type: "string" },
    minItems: 1,
    maxItems: apiLimits.evaluatorsPerAutomation,
    description: "Ids or slugs; responses have ids.",
  });

export const configurationChangeSchema = z.looseObject({
  sampling_rate: samplingRate.optional(),
  daily_budget: dailyBudget.nullish().meta({ description: "Null: the default." }),
  evaluator_ids: evaluatorIdsSchema.optional().meta({ description: "Used if there is none beside the configuration." }),
});

export const automationSchema = z
  .object({
    id: z.string(),
    automation_slug: z.string(),
    name: z.string(),
    automation_type: z.enum(automationTypes),
    environment: z
      .enum(environments)
      .meta({ description: "The environment of the key that created it: logs of this environment are evaluated." }),
    condition: conditionSchema.pick({ id: true, condition_slug: true, name: true, condition_type: true }),
    evaluator_ids: z.array(z.string()),
    evaluator_details: z.array(
      z.object({ id: z.string(), name: z.string(), evaluator_slug: z.string(), eval_class: z.string() }),
    ),
    is_enabled: z.boolean(),
    configuration: z.looseObject({ evaluator_ids: z.array(z.string()), sampling_rate: z.number() }),
    last_error: z
      .string()
      .nullable()
      .meta({ description: "The error of the last evaluation that failed or was skipped." }),
    last_error_at: z.string().nullable().meta({ format: "date-time" }),
    created_at: z.string().meta({ format: "date-time" }),
    updated_at: z.string().meta({ format: "date-time" }),
  })
  .meta({ id: "Automation" });

function presentAutomation(
  automation: Automation,
  { condition, evaluators }: { condition: Condition; evaluators: ReadonlyMap<string, Evaluator> },
): z.input<typeof automationSchema> {
  const { evaluator_ids, configuration } = automation;
  const { id, condition_slug, name, condition_type } = condition;
  return {
    ...omit(automation, "unique_organization_id", "condition_id"),
    condition: { id, condition_slug, name, condition_type },
    evaluator_ids,
    evaluator_details: evaluator_ids.flatMap((evaluatorId) => {
      const evaluator = evaluators.get(evaluatorId);
      if (evaluator === undefined) return [];
      const { id, name, evaluator_slug, eval_class } = evaluator;
      return [{ id, name, evaluator_slug, eval_class }];
    }),
    configuration: { ...configuration, evaluator_ids },
  };
}

/** Automations as the API returns them, with their condition and evaluators. */
export async function describeAutomations(
  stores: Pick<ControlStoreSet, "conditions" | "evaluators">,
  uniqueOrganizationId: string,
  automations: readonly Automation[],
): Promise<Array<z.input<typeof automationSchema>>> {
  const ids = [...new Set(automations.flatMap(({ evaluator_ids }) => evaluator_ids))];
  const [evaluators, conditions] = await Promise.all([
    stores.evaluators.findAll(uniqueOrganizationId, ids),
    stores.conditions.list(uniqueOrganizationId),
  ]);
  const evaluatorsById = new Map(evaluators.map((evaluator) => [evaluator.id, evaluator]));
  const conditionsById = new Map(conditions.map((condition) => [condition.id, condition]));
  return automations.flatMap((automation) => {
    const condition = conditionsById.get(automation.condition_id);
    return condition === undefined ? [] : [presentAutomation(automation, { condition, evaluators: evaluatorsById })];
  });
}

/** Their distinct ids. @throws ServiceError `invalid_request` that lists the unknown ones */
export async function requireEvaluators(
  evaluators: Pick<ControlStoreSet["evaluators"], "find">,
  uniqueOrganizationId: string,
  idsOrSlugs: readonly string[],
): Promise<string[]> {
  const known = new Set<string>();
  const unknown: string[] = [];
  for (const idOrSlug of idsOrSlugs) {
    const evaluator = await evaluators.find(uniqueOrganizationId, idOrSlug);
    if (evaluator === undefined) unknown.push(idOrSlug.slice(0, domainLimits.identifierChars));
    else known.add(evaluator.id);
  }
  if (unknown.length === 0) return [...known];
  const message = `Unknown evaluators: ${unknown.join(", ")}.`;
  throw new ServiceError("invalid_request", message, { errors: { evaluator_ids: [message] } });
}

/** @throws ServiceError `invalid_request` keyed `condition` */
export async function requireCondition(
  conditions: Pick<ControlStoreSet["conditions"], "find">,
  uniqueOrganizationId: string,
  id: string,
): Promise<Condition> {
  const condition = await conditions.find(uniqueOrganizationId, id);
  if (condition !== undefined) return condition;
  const message = "There is no such condition.";
  throw new ServiceError("invalid_request", message, { errors: { condition: [message] } });
}

export function automationNotFound(): ServiceError {
  return new ServiceError("not_found", "Automation not found.");
}

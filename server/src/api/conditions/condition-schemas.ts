import { z } from "zod";
import { conditionTypes, type Condition } from "../../domain/condition.ts";
import { ServiceError } from "../../domain/errors.ts";
import { canBeSlug } from "../../domain/naming.ts";
import { domainLimits } from "../../domain/limits.ts";
import { httpLimits } from "../../http/limits.ts";
import { nameSchema } from "../organizations/schemas.ts";

/** Used in paths and filters without escaping. */
export const slugSchema = z
  .string()
  .min(1)
  .max(domainLimits.identifierChars)
  .regex(/^[\w.-]+$/, "may have letters, digits, dots, hyphens and underscores")
  .refine(canBeSlug, "must not be ., .. or list, nor have the form of an id");

const rule = z.looseObject({
  field: z.string().meta({ description: "A field of spans, or `metadata.<key>`." }),
  operator: z
    .string()
    .optional()
    .meta({
      description:
        "equals, not_equals, greater_than, less_than, greater_than_or_equal, less_than_or_equal, contains, " +
        "not_contains, in, not_in, and every operator of filters.",
    }),
  value: z.unknown().meta({ description: "One value, or a list for in and not_in." }),
});

const policySchema = z.object({
  rules: z.array(rule).meta({ description: "Empty: every log matches." }),
  connector: z.enum(["AND", "OR"]).optional(),
});

export const conditionSchema = z
  .object({
    id: z.string(),
    condition_slug: z.string(),
    name: z.string(),
    condition_type: z.enum(conditionTypes),
    description: z.string(),
    condition_policy: policySchema,
    unique_organization_id: z.string(),
    created_at: z.string().meta({ format: "date-time" }),
    updated_at: z.string().meta({ format: "date-time" }),
  })
  .meta({ id: "Condition" });

const description = z.string().max(httpLimits.nameChars);
// The policy reader reports all errors of a policy under this one name.
const policy = z.unknown().meta({
  description: "`{rules: [{field, operator, value}], connector}`, with the connector AND (default) or OR.",
  examples: [{ rules: [{ field: "status_code", operator: "equals", value: 200 }], connector: "AND" }],
});

export const newConditionSchema = z.object({
  name: nameSchema,
  condition_slug: slugSchema,
  condition_type: z.string().meta({ enum: conditionTypes }),
  condition_policy: policy,
  description: description.default(""),
});

export const conditionChangeSchema = z.object({
  name: nameSchema.optional(),
  condition_policy: policy.optional(),
  description: description.optional(),
});

export function presentCondition(condition: Condition): z.input<typeof conditionSchema> {
  return { ...condition, condition_policy: asPolicyOutput(condition.condition_policy) };
}

/** The stored policy was checked by the filter parser, which accepts connectors in upper or lower case. */
function asPolicyOutput(policy: Condition["condition_policy"]): z.input<typeof policySchema> {
  return policy as z.input<typeof policySchema>;
}

export function conditionNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no such condition.");
}

import { z } from "zod";
import { budgetDurations, type Customer, type CustomerFields } from "../domain/customer.ts";
import type { FieldErrors } from "../domain/errors.ts";
import { parseTimeNs } from "../lib/time.ts";
import { customersLimits } from "./limits.ts";
import { firstStartMs } from "./periods.ts";
import { domainLimits } from "../domain/limits.ts";
import { httpLimits } from "../http/limits.ts";
import { pricingLimits } from "../pricing/limits.ts";

/** The fields of a customer as callers send them: an absent field is unchanged, null clears it. */

const text = (max: number, description: string) =>
  z
    .string({ error: "must be text or null" })
    .max(max, { error: `must be at most ${max} characters` })
    .nullable()
    .transform((value) => (value === "" ? null : value))
    .optional()
    .meta({ description });

const usd = (description: string) => {
  const error = "must be a number of US dollars, 0 or more, or null";
  return z
    .number({ error })
    .min(0, { error })
    .max(pricingLimits.costUsdMax, { error: `must be at most ${pricingLimits.costUsdMax}` })
    .nullable()
    .optional()
    .meta({ description });
};

const time = (description: string) =>
  z
    .union([z.string(), z.number(), z.null()], { error: "must be an ISO 8601 date or date-time, or null" })
    .transform((value, context) => {
      if (value === null || value === "") return null;
      const ns = parseTimeNs(value);
      if (ns !== undefined) return new Date(Number(ns / 1_000_000n)).toISOString();
      context.addIssue({ code: "custom", message: "must be an ISO 8601 date or date-time, or null" });
      return z.NEVER;
    })
    .optional()
    .meta({ type: ["string", "null"], format: "date-time", description });

const metadataError = "must be an object or null";

export const customerChangeFields = {
  email: text(domainLimits.identifierChars, "E-mail address.").refine(
    (value) => typeof value !== "string" || /^[^\s@]+@[^\s@]+$/.test(value),
    { error: "must be an e-mail address or null" },
  ),
  name: text(httpLimits.nameChars, "Display name."),
  metadata: z
    .record(z.string(), z.unknown(), { error: metadataError })
    .nullable()
    .transform((value) => value ?? {})
    .refine((value) => JSON.stringify(value).length <= customersLimits.customerMetadataChars, {
      error: `must be at most ${customersLimits.customerMetadataChars} characters of JSON`,
    })
    .optional()
    .meta({ description: "Replaced as a whole." }),
  group_identifier: text(domainLimits.identifierChars, "Group that the customer belongs to."),
  period_budget: usd("USD that may be spent in a period; null: no limit."),
  budget_duration: z
    .enum(budgetDurations, { error: `must be one of ${budgetDurations.join(", ")}, or null` })
    .nullable()
    .optional()
    .meta({
      description:
        "How often the period budget renews. Null is refused while there is a period budget without a period_end.",
    }),
  total_budget: usd("USD that may be spent over all time; null: no limit."),
  period_start: time(
    "Start of the first period. Null: calendar periods (UTC): days, weeks from Monday, months, years.",
  ),
  period_end: time("End of the first period (exclusive), instead of one budget_duration after its start."),
  markup_percentage: z
    .number({ error: "must be a number, 0 or more, or null" })
    .min(0, { error: "must be a number, 0 or more, or null" })
    .max(1_000_000, { error: "must be at most 1000000" })
    .nullable()
    .transform((value) => value ?? 0)
    .optional()
    .meta({ description: "20 reports 1.20 USD for a dollar of cost." }),
  rate_limit: z
    .int({ error: "must be a whole number of requests a minute, or null" })
    .min(0, { error: "must be a whole number of requests a minute, or null" })
    .max(customersLimits.customerRateLimitMax, { error: `must be at most ${customersLimits.customerRateLimitMax}` })
    .nullable()
    .optional()
    .meta({ description: "Gateway requests per minute; null: no limit." }),
  unpriced_calls: z
    .union([z.literal("refuse"), z.number().min(0).max(pricingLimits.costUsdMax), z.null()], {
      error: 'must be a number of US dollars, 0 or more, "refuse", or null',
    })
    .optional()
    .meta({
      description:
        "How a call of unknown price counts in the budgets: a number of USD; `refuse`: the gateway refuses it; null: nothing, and " +
        "limit_info warns of it.",
    }),
};

const customerChange = z.object(customerChangeFields);

/** Fields to change. A field that is undefined is not changed. */
export type CustomerChange = { [F in keyof CustomerFields]?: CustomerFields[F] | undefined };

/** Reads an object of fields; ignores other members. Errors are keyed by field, with `prefix`. */
export function readCustomerChange(
  value: unknown,
  prefix: string,
): { change: CustomerChange } | { errors: FieldErrors } {
  const result = customerChange.safeParse(value);
  if (result.success) return { change: result.data };
  const errors: FieldErrors = {};
  for (const issue of result.error.issues)
    (errors[prefix + issue.path.map(String).join(".")] ??= []).push(issue.message);
  return { errors };
}

/**
 * Applies a change to a customer. A budget for a period needs a period: it is the calendar month unless the change
 * states another. A period with only an end begins today.
 */
export function applyChange(
  customer: Customer,
  change: CustomerChange,
  nowMs: number,
): { fields: Partial<CustomerFields> } | { errors: FieldErrors } {
  const given = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  ) as Partial<CustomerFields>;
  const next = { ...customer, ...given };
  if (given.period_budget !== undefined && given.period_budget !== null) {
    const hasNoPeriod = next.budget_duration === null && next.period_end === null;
    if (hasNoPeriod && given.budget_duration === undefined) given.budget_duration = "monthly";
  }
  const after = { ...customer, ...given };
  if (after.period_budget !== null && after.budget_duration === null && after.period_end === null) {
    const field = given.budget_duration === null ? "budget_duration" : "period_end";
    return {
      errors: { [field]: ["must not be null while there is a period_budget: set period_budget to null as well"] },
    };
  }
  if (after.budget_duration === null && after.period_end !== null && after.period_start === null) {
    given.period_start = `${new Date(nowMs).toISOString().slice(0, 10)}T00:00:00.000Z`;
  }
  const rule = { ...customer, ...given };
  if (rule.period_end !== null && Date.parse(rule.period_end) <= firstStartMs(rule))
    return { errors: { period_end: ["must be after period_start"] } };
  return { fields: given };
}

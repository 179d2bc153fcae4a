import { z } from "zod";
import { budgetDurations } from "../../domain/customer.ts";

const text = z.string().nullable();
const money = z.number().nullable();
const time = (description: string) => z.string().nullable().meta({ format: "date-time", description });
const cost = z.number().meta({ description: "USD, without markup; unknown costs are skipped." });

/** The members of every response about a customer. */
const profile = {
  id: z.string().meta({ description: "Consists of identifier, environment and organization." }),
  customer_identifier: z.string(),
  unique_organization_id: z.string(),
  environment: z.string(),
  email: text,
  name: text,
  group_identifier: text,
  metadata: z.record(z.string(), z.unknown()),
  period_budget: money.meta({ description: "USD a period." }),
  budget_duration: z.enum(budgetDurations).nullable(),
  total_budget: money,
  period_start: time("Start of the first period."),
  period_end: time("End of the period: as set, otherwise that of the current one."),
  markup_percentage: z.number(),
  rate_limit: z.int().nullable().meta({ description: "Gateway requests per minute." }),
  unpriced_calls: z
    .union([z.literal("refuse"), z.number(), z.null()])
    .meta({ description: "How calls of unknown price count in the budgets." }),
  first_seen: z.string().meta({ format: "date-time" }),
  created_at: z.string().meta({ format: "date-time" }),
  updated_at: z.string().meta({ format: "date-time" }),
};

const analytics = {
  number_of_requests: z.int().meta({ description: "Spans that name the customer." }),
  total_requests: z.int().meta({ description: "The same." }),
  total_tokens: z.number(),
  total_prompt_tokens: z.number(),
  total_completion_tokens: z.number(),
  total_cost: cost,
  unpriced_count: z.int(),
  error_count: z.int(),
  total_cache_hits: z.int(),
  active_days: z.int().meta({ description: "UTC days with a span." }),
  average_latency: z.number().meta({ description: "Seconds." }),
  average_ttft: z.number().meta({ description: "Seconds until the first token." }),
  average_monthly_cost: cost.meta({ description: "USD per month with a span." }),
  last_active: time("When its last span ended."),
};

export const customerRow = z
  .object({
    ...profile,
    ...analytics,
    tokens: z.number().meta({ description: "total_tokens." }),
    cost: z.number().meta({ description: "total_cost." }),
    last_active_timeframe: time("last_active."),
  })
  .meta({ id: "CustomerRow" });

const usage = (description: string) => z.number().meta({ description });

export const customerDetail = z
  .object({
    ...profile,
    ...analytics,
    organization: z.int(),
    organization_name: z.string(),
    current_period_start: time("The current period."),
    current_period_end: time("The first instant after the current period."),
    total_period_usage: usage(
      "USD used in the current period, with markup: the cost of spans, or the ledger's amount if it is higher.",
    ),
    total_usage: usage("USD used over all time, likewise."),
    top_models: z.array(z.object({ model: z.string(), number_of_requests: z.int(), total_cost: cost })),
    is_test: z.boolean(),
    has_write_access: z.boolean(),
  })
  .meta({ id: "Customer" });

/** The identifier in the path, which may be any text once decoded. */
export const customerParams = z.object({ customer_identifier: z.string().min(1) });

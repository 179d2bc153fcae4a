import type { Environment } from "./principal.ts";

/** An end user of an organization's product, known by the identifier that the organization's calls name. */
export type CustomerKey = { organization_id: string; environment: Environment; customer_identifier: string };

export const budgetDurations = ["daily", "weekly", "monthly", "yearly"] as const;
export type BudgetDuration = (typeof budgetDurations)[number];

/** What may be edited. Money in USD, times ISO 8601 in UTC. */
export type CustomerFields = {
  email: string | null;
  name: string | null;
  metadata: Readonly<Record<string, unknown>>;
  group_identifier: string | null;
  /** What may be spent in a period; null is no bound. */
  period_budget: number | null;
  /** How long a period is. See customers/periods.ts for how the four members work together. */
  budget_duration: BudgetDuration | null;
  period_start: string | null;
  /** The first instant that no longer belongs to the period. */
  period_end: string | null;
  /** What may be spent over all time. */
  total_budget: number | null;
  /** 20 makes 1.20 USD of a dollar in usage reports. */
  markup_percentage: number;
  /** Gateway requests a minute. */
  rate_limit: number | null;
  /** What a call without a known price counts as in the budgets: USD, nothing (null), or it is refused. */
  unpriced_calls: number | "refuse" | null;
};

/** What bounds or charges a customer: setting it takes customers:write, whatever request it comes in. */
export const customerLimits = [
  "period_budget",
  "budget_duration",
  "period_start",
  "period_end",
  "total_budget",
  "markup_percentage",
  "rate_limit",
  "unpriced_calls",
] as const satisfies readonly (keyof CustomerFields)[];

export type Customer = CustomerKey &
  CustomerFields & {
    /** The end of the earliest span that named it, or its creation. */
    first_seen: string;
    created_at: string;
    /** Rises with every change. */
    updated_at: string;
    /** What calls and spans said last. Only what they say anew changes a field, so that an edit holds. */
    sent: Readonly<Partial<CustomerFields>>;
  };

/** That a customer was deleted. Its name is known for a day, until every node has heard of it; its fingerprint for good. */
export type CustomerErasure = Omit<CustomerKey, "customer_identifier"> & {
  fingerprint: string;
  customer_identifier: string | undefined;
  erasedAtMs: number;
};

export function customerKeyText({ organization_id, environment, customer_identifier }: CustomerKey): string {
  return `${organization_id}\n${environment}\n${customer_identifier}`;
}

/** What its spans say of a customer, by which it is sorted and filtered. Money in USD, times in seconds. */
export const customerNumbers = [
  "number_of_requests",
  "total_tokens",
  "total_prompt_tokens",
  "total_completion_tokens",
  "total_cost",
  "unpriced_count",
  "error_count",
  "total_cache_hits",
  "active_days",
  "average_latency",
  "average_ttft",
  "average_monthly_cost",
] as const;
export type CustomerNumber = (typeof customerNumbers)[number];

/** Text and times of the profile, and when its last span ended. */
export const customerTexts = ["email", "name"] as const;
export const customerTimes = ["first_seen", "last_active"] as const;

export const customerSortFields = [
  "customer_identifier",
  ...customerTexts,
  ...customerTimes,
  ...customerNumbers,
] as const;
export type CustomerSortField = (typeof customerSortFields)[number];

import type { Environment } from "./principal.ts";

/** An end user of an organization's product, known by the identifier in the organization's calls. */
export type CustomerKey = { organization_id: string; environment: Environment; customer_identifier: string };

export const budgetDurations = ["daily", "weekly", "monthly", "yearly"] as const;
export type BudgetDuration = (typeof budgetDurations)[number];

/** Editable fields. Money in USD, times ISO 8601 in UTC. */
export type CustomerFields = {
  email: string | null;
  name: string | null;
  metadata: Readonly<Record<string, unknown>>;
  group_identifier: string | null;
  /** Budget of a period; null: unlimited. */
  period_budget: number | null;
  /** Length of a period. See customers/periods.ts for how the four members work together. */
  budget_duration: BudgetDuration | null;
  period_start: string | null;
  /** The first instant after the period. */
  period_end: string | null;
  /** Budget over all time. */
  total_budget: number | null;
  /** 20 turns one dollar into 1.20 USD in usage reports. */
  markup_percentage: number;
  /** Gateway requests per minute. */
  rate_limit: number | null;
  /**
   * How budgets count a call without a known price: as this amount in USD, as nothing (null), or the call is refused.
   */
  unpriced_calls: number | "refuse" | null;
};

/** Fields that bound or charge a customer: setting them requires customers:write in every request. */
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
    /** The values that calls and spans sent last. Only a new value changes a field, so that edits persist. */
    sent: Readonly<Partial<CustomerFields>>;
  };

/** A deleted customer. Its name is kept for a day, until every node knows of the deletion; its fingerprint forever. */
export type CustomerErasure = Omit<CustomerKey, "customer_identifier"> & {
  fingerprint: string;
  customer_identifier: string | undefined;
  erasedAtMs: number;
};

export function customerKeyText({ organization_id, environment, customer_identifier }: CustomerKey): string {
  return `${organization_id}\n${environment}\n${customer_identifier}`;
}

/** Figures of a customer's spans, for sorting and filtering. Money in USD, times in seconds. */
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

/** Texts and times of the profile, and when its last span ended. */
export const customerTexts = ["email", "name"] as const;
export const customerTimes = ["first_seen", "last_active"] as const;

export const customerSortFields = [
  "customer_identifier",
  ...customerTexts,
  ...customerTimes,
  ...customerNumbers,
] as const;
export type CustomerSortField = (typeof customerSortFields)[number];

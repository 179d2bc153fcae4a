import type { Customer } from "../domain/customer.ts";
import type { SpendState } from "../storage/control/customer-ledger.ts";
import { usdOf } from "./money.ts";
import type { Period } from "./periods.ts";

/**
 * The data on which an admission was decided; stored with the span of the call. Money in USD, without markup; null: no
 * such limit.
 */
export type LimitInfo = {
  is_allowed: boolean;
  /** The limit that refused the call. */
  reason: "period_budget" | "total_budget" | "rate_limit" | "unpriced_call" | null;
  period_budget: number | null;
  /** Spent in the period, without calls in progress. */
  period_usage: number | null;
  period_start: string | null;
  period_end: string | null;
  total_budget: number | null;
  total_usage: number | null;
  /** Reserved for calls in progress, including this one if it was admitted. */
  reserved: number | null;
  /** The highest expected cost of the call; null if its price is unknown. */
  estimate: number | null;
  /** Requests per minute. */
  rate_limit: number | null;
  /** What the budgets do not cover of the call; absent if there is nothing. */
  warnings?: string[];
  /** The call's budgets; empty if the customer has none or only the rate limit decided. */
  limits: Limit[];
};

/** One budget: the amount spent, and the amount including all calls in progress, with this one if it was admitted. */
type Limit = {
  name: "customer_budget" | "customer_total_budget";
  current_value: number;
  new_value: number;
  limit_value: number;
  is_within_limit: boolean;
};

const unbounded: LimitInfo = {
  is_allowed: true,
  reason: null,
  period_budget: null,
  period_usage: null,
  period_start: null,
  period_end: null,
  total_budget: null,
  total_usage: null,
  reserved: null,
  estimate: null,
  rate_limit: null,
  limits: [],
};

export function limitInfo(parts: {
  customer?: Pick<Customer, "period_budget" | "total_budget" | "rate_limit">;
  period?: Period | undefined;
  state?: SpendState;
  estimateUsd: number | null;
  reason?: LimitInfo["reason"];
}): LimitInfo {
  const { customer, period, state, estimateUsd, reason = null } = parts;
  const info = { ...unbounded, is_allowed: reason === null, reason, estimate: estimateUsd };
  if (customer === undefined) return info;
  info.rate_limit = customer.rate_limit;
  info.total_budget = customer.total_budget;
  if (period !== undefined) {
    info.period_budget = customer.period_budget;
    info.period_start = isoOf(period.startMs);
    info.period_end = period.endMs === undefined ? null : isoOf(period.endMs);
  }
  if (state === undefined) return info;
  info.reserved = usdOf(state.reserved);
  if (period !== undefined) info.period_usage = usdOf(state.period);
  if (customer.total_budget !== null) info.total_usage = usdOf(state.total);
  info.limits = [
    ...limitOf("customer_budget", info, "period_budget", "period_usage"),
    ...limitOf("customer_total_budget", info, "total_budget", "total_usage"),
  ];
  return info;
}

function limitOf(
  name: Limit["name"],
  info: LimitInfo,
  budget: "period_budget" | "total_budget",
  usage: "period_usage" | "total_usage",
): Limit[] {
  const { reserved, reason, [budget]: bound, [usage]: used } = info;
  if (used === null || bound === null) return [];
  return [
    {
      name,
      current_value: used,
      new_value: reason === null ? used + (reserved ?? 0) : used,
      limit_value: bound,
      is_within_limit: reason !== budget,
    },
  ];
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

import type { WebhookEvent } from "../delivery/events.ts";
import type { BudgetReached } from "./budgets.ts";

/**
 * `customer_budget_limit_reached`: the customer, the budget and its state. Sent once, and again after the budget was
 * raised.
 */
export function budgetEvent({ customer, budget, limitInfo }: BudgetReached): WebhookEvent {
  const { organization_id, environment, customer_identifier, email, name } = customer;
  const { period_budget, period_usage, period_start, period_end, total_budget, total_usage, reserved } = limitInfo;
  return {
    type: "customer_budget_limit_reached",
    organizationId: organization_id,
    environment,
    id: JSON.stringify([
      customer_identifier,
      ...(budget === "period" ? [period_start, period_budget] : [total_budget]),
    ]),
    payload: {
      unique_organization_id: organization_id,
      environment,
      customer_identifier,
      email,
      name,
      budget: `${budget}_budget`,
      period_budget,
      period_usage,
      period_start,
      period_end,
      total_budget,
      total_usage,
      reserved,
    },
  };
}

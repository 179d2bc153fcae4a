import type { Webhook } from "./queries.ts";

/** Labels of webhook events. */
export const eventLabels: Record<Webhook["event_type"], string> = {
  request_log: "A span was stored",
  trace_completed: "A trace ended",
  on_eval_result_ingested: "A span was scored",
  customer_budget_limit_reached: "A customer used up a budget",
  alert_triggered: "An alert triggered",
  alert_resolved: "An alert is over",
};

export const eventOptions = Object.entries(eventLabels).map(([value, label]) => ({
  value: value as Webhook["event_type"],
  label: `${label} (${value})`,
}));

import { call, type Row } from "./call.ts";
import type { Target } from "./send-spans.ts";

/** Without channels, so that nobody is notified. */
const alerts = [
  {
    name: "Calls of a model fail",
    filters: { log_type: "chat" },
    metric: "error_percentage",
    window: "1d",
    operator: "gte",
    threshold: 10,
    group_by: "model",
    min_requests: 10,
  },
  {
    name: "A customer spends too much",
    metric: "total_cost",
    window: "7d",
    operator: "gt",
    threshold: 0.5,
    group_by: "customer_identifier",
  },
] as const;

const condition = {
  name: "Answers of the travel desk",
  condition_slug: "demo-answers",
  condition_type: "single_log",
  condition_policy: {
    rules: [
      { field: "span_name", operator: "equals", value: "answer" },
      { field: "status_code", operator: "less_than", value: 400 },
    ],
    connector: "AND",
  },
} as const;

/** Creates the demo's alerts and condition, except existing ones. Returns all their names. */
export async function watch(target: Target): Promise<{ alerts: string[]; condition: string }> {
  const known = await namesIn(target, "/api/alerts/");
  for (const alert of alerts) if (!known.has(alert.name)) await call(target, "POST", "/api/alerts/", alert);
  const conditions = await namesIn(target, "/automation/conditions/");
  if (!conditions.has(condition.name)) await call(target, "POST", "/automation/conditions/", condition);
  return { alerts: alerts.map(({ name }) => name), condition: condition.name };
}

async function namesIn(target: Target, path: string): Promise<Set<unknown>> {
  const { results } = (await call(target, "GET", `${path}?page_size=1000`)) as { results: Row[] };
  return new Set(results.map(({ name }) => name));
}

import { z } from "zod";
import { environments } from "../../domain/principal.ts";
import type { WebhookEventType } from "../../domain/webhook.ts";
import type { OutgoingRequest } from "../../http/openapi.ts";
import { deliveryLimits } from "../../delivery/limits.ts";
import { spanSchema } from "../request-logs/span-schema.ts";
import { alertEventSchema } from "../alerts/alert-event-schema.ts";
import { scoreSchema } from "../scores/score-schemas.ts";
import { traceSchema } from "../traces/read-traces.ts";

const usd = z.number().nullable().meta({ description: "USD; null if there is no such limit." });

const delivery =
  "Signed: see docs/webhooks.md. The webhook-id header is the same for every attempt and identifies the event; an event may arrive " +
  `more than once. A body over ${deliveryLimits.webhookPayloadBytes} bytes has null instead of large members, and is_truncated.`;

const request = (summary: string, body: z.ZodType): OutgoingRequest => ({
  summary,
  description: delivery,
  tag: "Webhooks",
  body,
});

/** The payload of each type of event, for the API reference. */
export const webhookPayloads: Record<WebhookEventType, OutgoingRequest> = {
  request_log: request("A span was stored, or a fuller version of it", spanSchema),
  trace_completed: request("A trace has had no new span for a while", traceSchema),
  on_eval_result_ingested: request("A log was scored", scoreSchema),
  customer_budget_limit_reached: request(
    "A customer has used up a budget",
    z
      .object({
        unique_organization_id: z.string(),
        environment: z.enum(environments),
        customer_identifier: z.string(),
        email: z.string().nullable(),
        name: z.string().nullable(),
        budget: z.enum(["period_budget", "total_budget"]),
        period_budget: usd,
        period_usage: usd,
        period_start: z.string().nullable().meta({ format: "date-time" }),
        period_end: z.string().nullable().meta({ format: "date-time" }),
        total_budget: usd,
        total_usage: usd,
        reserved: usd.meta({ description: "Reserved for calls in progress." }),
      })
      .meta({ id: "CustomerBudgetReached" }),
  ),
  alert_triggered: request("An alert triggered, for one group of its spans", alertEventSchema),
  alert_resolved: request("An alert was resolved: the group is ok, or has no more spans", alertEventSchema),
};

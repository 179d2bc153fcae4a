import { randomUUID } from "node:crypto";
import { z } from "zod";
import { newStatus } from "../../domain/alert-state.ts";
import { alertEvent } from "../../alerts/alert-events.ts";
import { payloadText } from "../../delivery/payload.ts";
import { alertChannelTypes, type Alert, type AlertGroupStatus } from "../../domain/alert.ts";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { apiLimits } from "../limits.ts";
import { deliveryLimits } from "../../delivery/limits.ts";
import { findOwnAlert, type AlertDeps } from "./alert-deps.ts";
import { alertParams } from "./alert-schemas.ts";

const result = z.object({
  channel: z.int(),
  type: z.enum(alertChannelTypes),
  is_delivered: z.boolean(),
  response_status: z.int().nullable(),
  response_body: z.string().nullable().meta({ description: "The first kilobyte of the response." }),
  error: z.string().nullable(),
});

export const testAlert = (deps: Pick<AlertDeps, "stores" | "attempt" | "publicUrl" | "nowMs">) =>
  endpoint({
    id: "test_alert",
    method: "POST",
    path: "/api/alerts/{id}/test/",
    summary: "Test the channels of an alert",
    description:
      "Sends each channel one event with `is_test` immediately, and returns the results. At most once in ten seconds.",
    tags: ["Alerts"],
    auth: "key_or_user",
    permission: "alerts:write",
    environment: "own",
    limit: "api",
    params: alertParams,
    success: { status: 200, schema: z.object({ results: z.array(result) }) },
    errors: ["not_found", "rate_limited"],
    handler: async ({ principal, params, signal }) => {
      const alert = await findOwnAlert(deps, principal, params.id);
      const nowMs = deps.nowMs();
      await takeTurn(deps, alert, nowMs);
      const channels = await deps.stores.webhooks.listChannels(alert.unique_organization_id, [alert.id]);
      const sent = {
        event_id: `msg_test_${randomUUID()}`,
        event_type: "alert_triggered" as const,
        payload: payloadText(testEvent(alert, deps.publicUrl, nowMs)),
        expires_at: new Date(nowMs + deliveryLimits.webhookRetryMs).toISOString(),
      };
      const results = channels.map(async (channel) => {
        const { isDelivered, status, body, error } = await deps.attempt(channel, sent, signal);
        const outcome = { is_delivered: isDelivered, response_status: status, response_body: body, error };
        return { channel: channel.id, type: channel.channel, ...outcome };
      });
      return { results: await Promise.all(results) };
    },
  });

/** Limits the rate of tests, so that nobody floods an address with them. */
async function takeTurn({ stores }: Pick<AlertDeps, "stores">, { id }: Alert, nowMs: number): Promise<void> {
  const since = new Date(nowMs - apiLimits.alertTestEveryMs).toISOString();
  if (await stores.alerts.noteTest(id, { now: new Date(nowMs).toISOString(), since })) return;
  const retryAfterS = apiLimits.alertTestEveryMs / 1_000;
  throw new ServiceError("rate_limited", "This alert was tested a moment ago.", { retryAfterS });
}

/** Has the links of a real event. */
function testEvent(alert: Alert, publicUrl: string | undefined, nowMs: number) {
  const windowEnd = new Date(Math.floor(nowMs / 60_000) * 60_000).toISOString();
  const status: AlertGroupStatus = { ...newStatus({}, windowEnd), state: "triggered" };
  const change = { previous: "ok", status, event: "alert_triggered" } as const;
  return alertEvent(alert, change, { windowEnd, publicUrl, isTest: true });
}

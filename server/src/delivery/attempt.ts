import type { Delivery, Webhook } from "../domain/webhook.ts";
import type { DeliveryMetrics } from "../telemetry/delivery-metrics.ts";
import type { Send, SendResult } from "./send.ts";
import { signatureHeaders } from "./sign.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

/** Sends an event once, signed for this moment. Never rejects but for a fault of this program. */
export type Attempt = (webhook: Webhook, delivery: Delivery, signal: AbortSignal) => Promise<SendResult>;

export type AttemptDeps = {
  secrets: Pick<WebhookSecrets, "signing">;
  send: Send;
  metrics: Pick<DeliveryMetrics, "attempts" | "attemptSeconds">;
  now: () => number;
};

export function createAttempt({ secrets, send, metrics, now }: AttemptDeps): Attempt {
  return async (webhook, { event_id: id, event_type, payload, expires_at }, signal) => {
    const nowMs = now();
    if (nowMs >= Date.parse(expires_at)) return failed("it waited too long for its turn");
    const keys = secrets.signing(webhook, nowMs);
    if (keys === undefined) return failed("its secret cannot be read: SPANWAY_SECRET_KEY has changed; rotate it");
    // ASCII, signed twice and sent: as bytes once.
    const body = Buffer.from(payload, "latin1");
    const signed = signatureHeaders({ id, timestampS: Math.floor(nowMs / 1_000), body }, keys, {
      isLegacy: webhook.legacy_signatures,
    });
    const headers = { ...fixedHeaders, "x-spanway-event": event_type, "x-svc-event": event_type, ...signed };
    const stop = metrics.attemptSeconds.startTimer();
    const result = await send({ url: webhook.url, headers, body }, signal);
    stop();
    metrics.attempts.inc({ outcome: result.isDelivered ? "delivered" : "failed" });
    return result;
  };
}

const fixedHeaders = { "content-type": "application/json", "user-agent": "Spanway-Webhooks/1" };

const failed = (error: string): SendResult => ({
  isDelivered: false,
  status: null,
  body: null,
  error,
  retryAfterMs: undefined,
});

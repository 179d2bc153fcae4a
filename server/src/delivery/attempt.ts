import type { AlertEvent } from "../domain/alert-event.ts";
import type { Delivery, Webhook } from "../domain/webhook.ts";
import { cleanText } from "../lib/json.ts";
import { deliveryLimits } from "./limits.ts";
import type { SendMail } from "../outgoing/mailer.ts";
import type { DeliveryMetrics } from "../telemetry/delivery-metrics.ts";
import { mailText, slackBody } from "./alert-message.ts";
import type { Send, SendResult } from "./send.ts";
import { signatureHeaders } from "./sign.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

/** The parts of a delivery that are needed to send it. */
export type Sent = Pick<Delivery, "event_id" | "event_type" | "payload" | "expires_at">;

/** Sends an event once, signed for this moment. Rejects only because of a bug in this program. */
export type Attempt = (webhook: Webhook, delivery: Sent, signal: AbortSignal) => Promise<SendResult>;

export type AttemptDeps = {
  secrets: Pick<WebhookSecrets, "signing" | "openUrl">;
  send: Send;
  /** Undefined if no mail server is configured. */
  sendMail: SendMail | undefined;
  metrics: Pick<DeliveryMetrics, "attempts" | "attemptSeconds">;
  now: () => number;
};

export function createAttempt(deps: AttemptDeps): Attempt {
  const { metrics, now } = deps;
  const ways = { webhook: postSigned, slack: postToSlack, email: sendAsMail };
  return async (webhook, delivery, signal) => {
    if (now() >= Date.parse(delivery.expires_at)) return failed("it waited too long for its turn");
    const stop = metrics.attemptSeconds.startTimer();
    const result = await ways[webhook.channel](deps, webhook, delivery, signal);
    stop();
    metrics.attempts.inc({ outcome: result.isDelivered ? "delivered" : "failed" });
    return result;
  };
}

type Way = (deps: AttemptDeps, ...of: Parameters<Attempt>) => Promise<SendResult>;

const postSigned: Way = async ({ secrets, send, now }, webhook, { event_id: id, event_type, payload }, signal) => {
  const nowMs = now();
  const keys = secrets.signing(webhook, nowMs);
  if (keys === undefined) return failed("its secret cannot be read: SPANWAY_SECRET_KEY has changed; rotate it");
  // ASCII, signed twice and sent: converted to bytes once.
  const body = Buffer.from(payload, "latin1");
  const signed = signatureHeaders({ id, timestampS: Math.floor(nowMs / 1_000), body }, keys, {
    isLegacy: webhook.legacy_signatures,
  });
  const headers = { ...fixedHeaders, "x-spanway-event": event_type, "x-svc-event": event_type, ...signed };
  return await send({ url: webhook.url, headers, body }, signal);
};

const postToSlack: Way = async ({ secrets, send }, webhook, { payload }, signal) => {
  const url = secrets.openUrl(webhook);
  if (url === undefined) return failed("its URL cannot be read: SPANWAY_SECRET_KEY has changed; set the URL again");
  const result = await send(
    { url, headers: fixedHeaders, body: Buffer.from(slackBody(asAlertEvent(payload))) },
    signal,
  );
  // A receiver may echo the URL, which is a secret, in an error or a redirect.
  const { pathname, search } = new URL(url);
  const secret = `${pathname}${search}`;
  const withoutUrl = (text: string | null) => (secret === "/" ? text : (text?.replaceAll(secret, "/…") ?? null));
  return { ...result, error: withoutUrl(result.error), body: withoutUrl(result.body) };
};

const sendAsMail: Way = async ({ sendMail }, { url: to }, { event_id: id, payload }) => {
  if (sendMail === undefined) return failed("SPANWAY_SMTP_URL is not set");
  try {
    await sendMail({ ...mailText(asAlertEvent(payload)), to, id });
    return { isDelivered: true, status: null, body: null, error: null, retryAfterMs: undefined };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "the mail server refused it";
    return failed(cleanText(reason).slice(0, deliveryLimits.webhookResponseBytes));
  }
};

const fixedHeaders = { "content-type": "application/json", "user-agent": "Spanway-Webhooks/1" };

/** Channels of alert rules receive only alert events. */
function asAlertEvent(payload: string): AlertEvent {
  return JSON.parse(payload) as AlertEvent;
}

const failed = (error: string): SendResult => ({
  isDelivered: false,
  status: null,
  body: null,
  error,
  retryAfterMs: undefined,
});

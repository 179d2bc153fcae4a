import { alertEventTypes, type AlertChannelType } from "./alert.ts";
import type { Environment } from "./principal.ts";

/** The events of webhooks. */
export const webhookEventTypes = [
  "request_log",
  "trace_completed",
  "on_eval_result_ingested",
  "customer_budget_limit_reached",
  ...alertEventTypes,
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** Times are ISO 8601, UTC. Secrets are encrypted. */
export type Webhook = {
  id: number;
  unique_organization_id: string;
  /** The environment whose events it gets; null: both. */
  environment: Environment | null;
  /** The id of an API key: then it gets only the events of that key. */
  organization_key: string | null;
  name: string;
  /** For Slack the URL without its secret, for e-mail the address. */
  url: string;
  /** The kind of receiver. */
  channel: AlertChannelType;
  /** The alert rule that it is a channel of, the only sender to it; null for a webhook. */
  alert_id: string | null;
  event_type: WebhookEventType;
  active: boolean;
  /** Whether events are signed under the product's legacy names too. */
  legacy_signatures: boolean;
  /** The signing secret; for Slack the whole URL. */
  secret: string;
  /** Signs in addition to `secret` until `previous_secret_until`, after a rotation. */
  previous_secret: string | null;
  previous_secret_until: string | null;
  /** Since when every delivery has failed; null after a success. */
  failing_since: string | null;
  disabled_at: string | null;
  /** Why the service disabled it. */
  disabled_reason: string | null;
  /** Events that were not queued because too many were pending. */
  skipped_events: number;
  created_at: string;
  updated_at: string;
};

export const deliveryStatuses = ["pending", "delivered", "failed"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One event for one webhook. */
export type Delivery = {
  id: number;
  webhook_id: number;
  unique_organization_id: string;
  environment: Environment;
  /** The `webhook-id` header: the same for every attempt. */
  event_id: string;
  event_type: WebhookEventType;
  /** The exact text that is sent, ASCII. */
  payload: string;
  status: DeliveryStatus;
  attempts: number;
  /** When the next attempt is due; during an attempt, when another node may take over; null once finished. */
  next_attempt_at: string | null;
  /** When attempts end. */
  expires_at: string;
  created_at: string;
  last_attempt_at: string | null;
  response_status: number | null;
  /** The first kilobyte of the response. */
  response_body: string | null;
  error: string | null;
};

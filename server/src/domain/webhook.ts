import { alertEventTypes, type AlertChannelType } from "./alert.ts";
import type { Environment } from "./principal.ts";

/** What may happen, as webhooks name it. */
export const webhookEventTypes = [
  "request_log",
  "trace_completed",
  "on_eval_result_ingested",
  "customer_budget_limit_reached",
  ...alertEventTypes,
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** Times are ISO 8601, UTC. Secrets are sealed. */
export type Webhook = {
  id: number;
  unique_organization_id: string;
  /** Whose events it gets: those of one environment, or of both. */
  environment: Environment | null;
  /** The id of an API key: then it gets the events of that key alone. */
  organization_key: string | null;
  name: string;
  /** Of a Slack channel without what is secret in it, of an e-mail channel the address. */
  url: string;
  /** What is sent there, and how. */
  channel: AlertChannelType;
  /** The alert rule that it is a channel of, which alone sends to it; null of a webhook. */
  alert_id: string | null;
  event_type: WebhookEventType;
  active: boolean;
  /** Whether it is signed under the product's former names too. */
  legacy_signatures: boolean;
  /** What signs; of a Slack channel the whole URL. */
  secret: string;
  /** After a rotation: signs beside `secret` until then. */
  previous_secret: string | null;
  previous_secret_until: string | null;
  /** Since when no delivery has succeeded; null while they do. */
  failing_since: string | null;
  disabled_at: string | null;
  /** Why the service itself switched it off. */
  disabled_reason: string | null;
  /** Events that were not queued, as too many waited. */
  skipped_events: number;
  created_at: string;
  updated_at: string;
};

export const deliveryStatuses = ["pending", "delivered", "failed"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One event on its way to one webhook. */
export type Delivery = {
  id: number;
  webhook_id: number;
  unique_organization_id: string;
  environment: Environment;
  /** The `webhook-id` that receivers see: the same at every attempt. */
  event_id: string;
  event_type: WebhookEventType;
  /** The exact text that is sent, ASCII. */
  payload: string;
  status: DeliveryStatus;
  attempts: number;
  /** When it is tried next, or, while it is under way, when another node may take over; null once it is finished. */
  next_attempt_at: string | null;
  /** When trying ends. */
  expires_at: string;
  created_at: string;
  last_attempt_at: string | null;
  response_status: number | null;
  /** The first kilobyte of the answer. */
  response_body: string | null;
  error: string | null;
};

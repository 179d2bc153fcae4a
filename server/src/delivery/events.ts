import { createHash } from "node:crypto";
import { limits } from "../limits.ts";
import type { DeliveryStore, NewDelivery } from "../storage/control/delivery-store.ts";
import type { WebhookStore } from "../storage/control/webhook-store.ts";
import type { DeliveryMetrics } from "../telemetry/delivery-metrics.ts";
import type { Backlog } from "./backlog.ts";
import { payloadText } from "./payload.ts";
import type { EventScope, WebhookDirectory } from "./webhook-directory.ts";

export type WebhookEvent = EventScope & {
  /**
   * Says which event it is among those of its type, organisation and environment: the same again is the same event, and
   * is delivered once more only by accident, with the same `webhook-id`.
   */
  id: string;
  /** What is sent: a value or JSON text. A function is called only when somebody listens. */
  payload: object | (() => object | string);
};

/** What happened, for those who asked to be told. */
export type Events = {
  /** Whether anybody would be told: asks memory alone. */
  isHeard(scope: EventScope): boolean;
  /**
   * Resolves once the event is queued, on disk, for every webhook that listens; at once when none does.
   * Rejects when the control store does not take it: publish it again then, with the same id.
   */
  publish(event: WebhookEvent): Promise<void>;
  /** The same for many, in portions. */
  publishAll(events: readonly WebhookEvent[]): Promise<void>;
};

export type EventsDeps = {
  directory: Pick<WebhookDirectory, "listeners">;
  deliveries: Pick<DeliveryStore, "add">;
  webhooks: Pick<WebhookStore, "noteSkipped">;
  backlog: Pick<Backlog, "hasRoom" | "added">;
  metrics: Pick<DeliveryMetrics, "queued" | "skipped">;
  /** Told for which webhooks something is due. */
  onQueued: (webhookIds: ReadonlySet<number>) => void;
  now: () => number;
};

// Payloads are made on the main thread: a portion takes milliseconds.
const portion = 50;

export function createEvents(deps: EventsDeps): Events {
  const publishAll = async (events: readonly WebhookEvent[]): Promise<void> => {
    const heard = events.flatMap((event) => {
      const listeners = deps.directory.listeners(event);
      return listeners.length === 0 ? [] : [{ event, listeners: listeners.map(({ id }) => id) }];
    });
    for (let start = 0; start < heard.length; start += portion) {
      if (start > 0) await new Promise((resolve) => setImmediate(resolve));
      await queue(deps, heard.slice(start, start + portion));
    }
  };
  return {
    isHeard: (scope) => deps.directory.listeners(scope).length > 0,
    publish: (event) => publishAll([event]),
    publishAll,
  };
}

async function queue(
  { deliveries, webhooks, backlog, metrics, onQueued, now }: EventsDeps,
  heard: ReadonlyArray<{ event: WebhookEvent; listeners: readonly number[] }>,
): Promise<void> {
  const nowMs = now();
  const created_at = new Date(nowMs).toISOString();
  const expires_at = new Date(nowMs + limits.webhookRetryMs).toISOString();
  const rows: NewDelivery[] = [];
  const skipped = new Map<number, number>();
  for (const { event, listeners } of heard) {
    let payload: string | undefined;
    for (const webhook_id of listeners) {
      // Asked with no bytes first: a webhook whose queue is full must not cost the making of payloads.
      if (!backlog.hasRoom(webhook_id, (payload ?? "").length)) {
        skipped.set(webhook_id, (skipped.get(webhook_id) ?? 0) + 1);
        continue;
      }
      payload ??= payloadText(typeof event.payload === "function" ? event.payload() : event.payload);
      rows.push({
        webhook_id,
        unique_organization_id: event.organizationId,
        environment: event.environment,
        event_id: messageId(event),
        event_type: event.type,
        payload,
        created_at,
        expires_at,
      });
    }
  }
  await deliveries.add(rows);
  for (const { webhook_id, payload, event_type } of rows) {
    backlog.added(webhook_id, payload.length);
    metrics.queued.inc({ event_type });
  }
  for (const [webhookId, count] of skipped) {
    metrics.skipped.inc(count);
    await webhooks.noteSkipped(webhookId, count);
  }
  if (rows.length > 0) onQueued(new Set(rows.map(({ webhook_id }) => webhook_id)));
}

/** The `webhook-id`: a receiver that knows it has had the event already. */
function messageId({ type, organizationId, environment, id }: WebhookEvent): string {
  const identity = JSON.stringify([organizationId, environment, type, id]);
  return `msg_${createHash("sha256").update(identity).digest("base64url").slice(0, 32)}`;
}

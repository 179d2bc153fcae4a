import { createHash } from "node:crypto";
import { limits } from "../limits.ts";
import type { NewDelivery } from "../storage/control/delivery-store.ts";
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
  /** Puts deliveries on the queue, all of them or none. */
  enqueue: (deliveries: readonly NewDelivery[]) => Promise<void>;
  webhooks: Pick<WebhookStore, "noteSkipped">;
  backlog: Pick<Backlog, "hasRoom" | "added">;
  metrics: Pick<DeliveryMetrics, "queued" | "skipped">;
  /** Told for which webhooks something is due. */
  onQueued: (webhookIds: ReadonlySet<number>) => void;
  now: () => number;
};

// Payloads are made on the main thread: so many take milliseconds.
const portion = 50;

export function createEvents(deps: EventsDeps): Events {
  const publishAll = async (events: readonly WebhookEvent[]): Promise<void> => {
    let batch = newBatch();
    let made = 0;
    for (const event of events) {
      const listeners = deps.directory.listeners(event);
      if (listeners.length === 0) continue;
      addTo(batch, event, listeners, deps);
      made += 1;
      if (made % portion === 0) await new Promise((resolve) => setImmediate(resolve));
      if (batch.rows.length < limits.webhookQueueBatchRows && batch.bytes < limits.webhookQueueBatchBytes) continue;
      await queue(batch, deps);
      batch = newBatch();
    }
    await queue(batch, deps);
  };
  return {
    isHeard: (scope) => deps.directory.listeners(scope).length > 0,
    publish: (event) => publishAll([event]),
    publishAll,
  };
}

/** What goes into the queue in one transaction: each costs a flush of the disk. */
type Batch = { rows: NewDelivery[]; bytes: number; skipped: Map<number, number> };

const newBatch = (): Batch => ({ rows: [], bytes: 0, skipped: new Map() });

function addTo(
  batch: Batch,
  event: WebhookEvent,
  listeners: ReadonlyArray<{ id: number }>,
  { backlog, now }: Pick<EventsDeps, "backlog" | "now">,
): void {
  const nowMs = now();
  let payload: string | undefined;
  for (const { id: webhook_id } of listeners) {
    // Asked with no bytes first: a webhook whose queue is full must not cost the making of payloads.
    if (!backlog.hasRoom(webhook_id, (payload ?? "").length)) {
      batch.skipped.set(webhook_id, (batch.skipped.get(webhook_id) ?? 0) + 1);
      continue;
    }
    payload ??= payloadText(typeof event.payload === "function" ? event.payload() : event.payload);
    batch.bytes += payload.length;
    batch.rows.push({
      webhook_id,
      unique_organization_id: event.organizationId,
      environment: event.environment,
      event_id: messageId(event),
      event_type: event.type,
      payload,
      created_at: new Date(nowMs).toISOString(),
      expires_at: new Date(nowMs + limits.webhookRetryMs).toISOString(),
    });
  }
}

async function queue(
  { rows, skipped }: Batch,
  { enqueue, webhooks, backlog, metrics, onQueued }: EventsDeps,
): Promise<void> {
  if (rows.length > 0) await enqueue(rows);
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

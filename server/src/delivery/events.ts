import { createHash } from "node:crypto";
import { deliveryLimits } from "./limits.ts";
import { inKeyOrder } from "../lib/in-key-order.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";
import type { NewDelivery } from "../storage/control/delivery-store.ts";
import type { DeliveryMetrics } from "../telemetry/delivery-metrics.ts";
import type { Backlog } from "./backlog.ts";
import { payloadText } from "./payload.ts";
import type { EventScope, WebhookDirectory } from "./webhook-directory.ts";

export type WebhookEvent = EventScope & {
  /**
   * Identifies the event among those of its type, organisation and environment. Publishing the same id again is the
   * same event: it may be delivered once more by accident, with the same `webhook-id`.
   */
  id: string;
  /** Webhooks that receive the event in addition to its subscribers. */
  channels?: ReadonlyArray<{ id: number }>;
  /** The trace that the event belongs to. */
  traceId?: string | undefined;
  /** A value or JSON text. A function is called only if a webhook listens. */
  payload: object | (() => object | string);
};

/** Publishes events to the webhooks that listen for them. */
export type Events = {
  /** Whether any webhook listens: reads only memory. */
  hasListeners(scope: EventScope): boolean;
  /**
   * Resolves once the event is queued, on disk, for every webhook that listens; immediately if none does. Rejects if
   * the control store fails: then publish it again with the same id.
   */
  publish(event: WebhookEvent): Promise<void>;
  /** Does the same for many events, in portions. */
  publishAll(events: readonly WebhookEvent[]): Promise<void>;
  /**
   * Queues a few events in the caller's transaction, so that they are sent if and only if the change they report is
   * committed. Call the returned function after the commit.
   */
  publishWithin(set: QueueStores, events: readonly WebhookEvent[]): Promise<() => void>;
};

export type QueueStores = Pick<ControlStoreSet, "deliveries" | "webhooks">;

export type EventsDeps = {
  directory: Pick<WebhookDirectory, "listeners">;
  stores: Pick<ControlStores, "transaction">;
  backlog: Pick<Backlog, "hasRoom" | "added">;
  metrics: Pick<DeliveryMetrics, "queued" | "skipped">;
  /** Called with the webhooks for which something is due. */
  onQueued: (webhookIds: ReadonlySet<number>) => void;
  now: () => number;
};

// Payloads are serialized on the main thread: this many take milliseconds.
const portion = 50;

export function createEvents(deps: EventsDeps): Events {
  const publishAll = async (events: readonly WebhookEvent[]): Promise<void> => {
    let batch = newBatch();
    let made = 0;
    for (const event of events) {
      const listeners = listenersOf(event, deps);
      if (listeners.length === 0) continue;
      addTo(batch, event, listeners, deps);
      made += 1;
      if (made % portion === 0) await new Promise((resolve) => setImmediate(resolve));
      if (
        batch.rows.length < deliveryLimits.webhookQueueBatchRows &&
        batch.bytes < deliveryLimits.webhookQueueBatchBytes
      )
        continue;
      await queue(batch, deps);
      batch = newBatch();
    }
    await queue(batch, deps);
  };
  return {
    hasListeners: (scope) => deps.directory.listeners(scope).length > 0,
    publish: (event) => publishAll([event]),
    publishAll,
    async publishWithin(set, events) {
      const batch = newBatch();
      for (const event of events) addTo(batch, event, listenersOf(event, deps), deps);
      await write(batch, set);
      return () => written(batch, deps);
    },
  };
}

function listenersOf(event: WebhookEvent, { directory }: Pick<EventsDeps, "directory">) {
  const listeners: ReadonlyArray<{ id: number }> = directory.listeners(event);
  return event.channels === undefined ? listeners : [...listeners, ...event.channels];
}

/** The rows of one transaction: each transaction costs a flush of the disk. */
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
    // Checked with zero bytes first, so that no payload is built for a webhook whose queue is full.
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
      trace_unique_id: event.traceId ?? null,
      created_at: new Date(nowMs).toISOString(),
      expires_at: new Date(nowMs + deliveryLimits.webhookRetryMs).toISOString(),
    });
  }
}

async function queue(batch: Batch, deps: EventsDeps): Promise<void> {
  if (batch.rows.length + batch.skipped.size === 0) return;
  await deps.stores.transaction((set) => write(batch, set));
  written(batch, deps);
}

async function write({ rows, skipped }: Batch, { deliveries, webhooks }: QueueStores): Promise<void> {
  if (rows.length > 0) await deliveries.add(rows);
  for (const [webhookId, count] of inKeyOrder([...skipped], ([id]) => [id]))
    await webhooks.noteSkipped(webhookId, count);
}

function written({ rows, skipped }: Batch, { backlog, metrics, onQueued }: EventsDeps): void {
  for (const { webhook_id, payload, event_type } of rows) {
    backlog.added(webhook_id, payload.length);
    metrics.queued.inc({ event_type });
  }
  for (const count of skipped.values()) metrics.skipped.inc(count);
  if (rows.length > 0) onQueued(new Set(rows.map(({ webhook_id }) => webhook_id)));
}

/** The `webhook-id`: receivers use it to detect duplicates. */
export function messageId({
  type,
  organizationId,
  environment,
  id,
}: Pick<WebhookEvent, "type" | "organizationId" | "environment" | "id">): string {
  const identity = JSON.stringify([organizationId, environment, type, id]);
  return `msg_${createHash("sha256").update(identity).digest("base64url").slice(0, 32)}`;
}

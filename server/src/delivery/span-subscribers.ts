import type { SpanRow } from "../domain/span.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import type { QueueCapacity } from "../ingest/fan-out/queue-capacity.ts";
import type { TraceWatch, TraceWatchStore } from "../storage/control/trace-watch-store.ts";
import type { Events, WebhookEvent } from "./events.ts";
import type { WebhookDirectory } from "./webhook-directory.ts";

type SpanEventsDeps = {
  events: Pick<Events, "publishAll">;
  directory: Pick<WebhookDirectory, "hasAny">;
  /** Returns a span as JSON text, like the endpoint that retrieves it. */
  presentSpan: (row: SpanRow) => string;
};

/** Publishes `request_log` events for stored spans. */
export function createSpanEvents({ events, directory, presentSpan }: SpanEventsDeps): SpanSubscriber {
  return {
    name: "webhooks",
    wants: (organizationId) => directory.hasAny(organizationId, ["request_log"]),
    consume: (batch) => events.publishAll(batch.flatMap(({ rows }) => rows.map((row) => logEvent(row, presentSpan)))),
  };
}

/** An unchanged span that is resent is the same event; a fuller version of it is a new one. */
function logEvent(row: SpanRow, presentSpan: (row: SpanRow) => string): WebhookEvent {
  const rank = BigInt(row.version) >> 61n;
  return {
    type: "request_log",
    organizationId: row.organization_id,
    environment: row.environment,
    organizationKeyId: row.organization_key_id,
    id: `${row.unique_id} ${rank}`,
    traceId: row.trace_unique_id,
    payload: () => presentSpan(row),
  };
}

type TraceWatchingDeps = {
  directory: Pick<WebhookDirectory, "hasAny">;
  traceWatches: Pick<TraceWatchStore, "touch">;
  room: Pick<QueueCapacity, "isFull">;
  /** How long a trace must have had no new span to count as complete. */
  traceQuietMs: number;
  now: () => number;
};

/** Watches the traces of stored spans for `trace_completed`, if any webhook listens for it. */
export function createTraceWatching({
  directory,
  traceWatches,
  room,
  traceQuietMs,
  now,
}: TraceWatchingDeps): SpanSubscriber {
  return {
    name: "completed traces",
    wants: (organizationId) => directory.hasAny(organizationId, ["trace_completed"]),
    isFull: (organizationId) => room.isFull(organizationId),
    async consume(batch) {
      const due_at = new Date(now() + traceQuietMs).toISOString();
      const watches = watchesOf(batch.flatMap(({ rows }) => rows));
      await traceWatches.touch(watches.map((watch) => ({ ...watch, due_at })));
    },
  };
}

/** One watch per trace, with the receipt time of its newest span. */
function watchesOf(rows: readonly SpanRow[]) {
  const watches = new Map<string, Omit<TraceWatch, "id" | "due_at">>();
  for (const { organization_id, environment, trace_unique_id = "", received_at = "" } of rows) {
    if (trace_unique_id === "") continue;
    const key = `${organization_id}\n${environment}\n${trace_unique_id}`;
    const known = watches.get(key)?.last_received ?? "";
    const last_received = received_at > known ? received_at : known;
    watches.set(key, {
      unique_organization_id: organization_id,
      environment,
      trace_unique_id,
      last_received,
    });
  }
  return [...watches.values()];
}

import type { SpanRow } from "../domain/span.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import type { Events, WebhookEvent } from "./events.ts";
import type { WebhookDirectory } from "./webhook-directory.ts";

export type SpanEventsDeps = {
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

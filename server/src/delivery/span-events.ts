import type { SpanRow } from "../domain/span.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import type { Events, WebhookEvent } from "./events.ts";
import type { WebhookDirectory } from "./webhook-directory.ts";

export type SpanEventsDeps = {
  events: Pick<Events, "publishAll">;
  directory: Pick<WebhookDirectory, "hasAny">;
  /** A span as retrieving it shows it, as JSON text. */
  presentSpan: (row: SpanRow) => string;
};

/** Makes `request_log` events of stored spans. */
export function createSpanEvents({ events, directory, presentSpan }: SpanEventsDeps): SpanSubscriber {
  return {
    name: "webhooks",
    wants: (organizationId) => directory.hasAny(organizationId, ["request_log"]),
    take: (batch) => events.publishAll(batch.flatMap(({ rows }) => rows.map((row) => logEvent(row, presentSpan)))),
  };
}

/** A span that is sent again as it was is the same event; one that is fuller than before is another. */
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

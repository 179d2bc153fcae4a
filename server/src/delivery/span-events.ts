import type { SpanRow } from "../domain/span.ts";
import type { SpanSubscriber } from "../ingest/fan-out.ts";
import type { TraceWatchStore } from "../storage/control/trace-watch-store.ts";
import type { Events, WebhookEvent } from "./events.ts";
import type { WebhookDirectory } from "./webhook-directory.ts";

export type SpanEventsDeps = {
  events: Pick<Events, "publishAll">;
  directory: Pick<WebhookDirectory, "hasAny">;
  traceWatches: Pick<TraceWatchStore, "touch">;
  /** A span as retrieving it shows it, as JSON text. */
  presentSpan: (row: SpanRow) => string;
  /** How long a trace must have had no new span to count as complete. */
  traceQuietMs: number;
  now: () => number;
};

/** Makes `request_log` events of stored spans, and watches their traces for `trace_completed`. */
export function createSpanEvents(deps: SpanEventsDeps): SpanSubscriber {
  const { directory, events, traceWatches, traceQuietMs, now } = deps;
  return {
    name: "webhooks",
    wants: (organizationId) => directory.hasAny(organizationId, ["request_log", "trace_completed"]),
    async take(batch) {
      const traced = batch.filter(({ organizationId }) => directory.hasAny(organizationId, ["trace_completed"]));
      const due_at = new Date(now() + traceQuietMs).toISOString();
      await traceWatches.touch(watchesOf(traced.flatMap(({ rows }) => rows)).map((watch) => ({ ...watch, due_at })));
      await events.publishAll(batch.flatMap(({ rows }) => rows.map((row) => logEvent(row, deps.presentSpan))));
    },
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
    payload: () => presentSpan(row),
  };
}

/** One for each trace, with the time at which its newest span was received. */
function watchesOf(rows: readonly SpanRow[]) {
  const watches = new Map<string, Parameters<TraceWatchStore["touch"]>[0][number] & { due_at: "" }>();
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
      due_at: "",
    });
  }
  return [...watches.values()];
}

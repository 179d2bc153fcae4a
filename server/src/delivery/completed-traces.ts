import { deliveryLimits } from "./limits.ts";
import type { TraceWatch, TraceWatchStore } from "../storage/control/trace-watch-store.ts";
import type { SpanStore, StoredSpan } from "../storage/spans/span-store.ts";
import type { StoredTrace } from "../storage/spans/trace-queries.ts";
import type { Events } from "./events.ts";

export type CompletedTracesDeps = {
  traceWatches: Pick<TraceWatchStore, "claim" | "end">;
  spans: Pick<SpanStore, "retrieveTraces" | "hydrateSpans">;
  events: Pick<Events, "hasListeners" | "publish">;
  /**
   * Returns the members of a trace as JSON text. `rootFields` are the fields with which the root has to be read for
   * that.
   */
  presentTrace: (trace: StoredTrace, root: StoredSpan | undefined, organizationId: string) => Promise<string>;
  rootFields: Parameters<SpanStore["hydrateSpans"]>[2];
  now: () => number;
};

/**
 * Publishes traces without new spans for long enough, on any number of nodes. The receipt time of the newest span is
 * part of the event's identity: a crash between publishing and ending the watch repeats the same event, and a later
 * span makes a new one.
 */
export async function publishCompletedTraces(deps: CompletedTracesDeps, signal: AbortSignal): Promise<void> {
  const { traceWatches, now } = deps;
  for (;;) {
    const nowMs = now();
    const watches = await traceWatches.claim({
      now: new Date(nowMs).toISOString(),
      until: new Date(nowMs + deliveryLimits.traceWatchClaimMs).toISOString(),
      limit: deliveryLimits.traceWatchBatch,
    });
    for (const watch of watches) {
      signal.throwIfAborted();
      await publishTrace(deps, watch, signal);
      await traceWatches.end(watch);
    }
    if (watches.length < deliveryLimits.traceWatchBatch) return;
  }
}

async function publishTrace(
  { spans, events, presentTrace, rootFields }: CompletedTracesDeps,
  { unique_organization_id: organizationId, environment, trace_unique_id: traceId, last_received }: TraceWatch,
  signal: AbortSignal,
): Promise<void> {
  const scope = { organization_id: organizationId, environment };
  const [trace] = await spans.retrieveTraces(scope, traceId, signal);
  // Deleted meanwhile.
  if (trace === undefined) return;
  const event = {
    type: "trace_completed" as const,
    organizationId,
    environment,
    organizationKeyId: trace.organization_key_id,
    id: `${traceId} ${last_received}`,
    traceId,
  };
  if (!events.hasListeners(event)) return;
  const [root] = await spans.hydrateSpans(scope, [trace.root], rootFields, signal);
  const payload = await presentTrace(trace, root, organizationId);
  await events.publish({ ...event, payload: () => payload });
}

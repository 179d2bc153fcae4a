import type { SpanRow } from "../domain/span.ts";
import { isDerivedId } from "../domain/identity.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import { countingLimits } from "./limits.ts";
import { domainLimits } from "../domain/limits.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { SpanCounter } from "./span-counter.ts";

/**
 * If several nodes write one store: finds spans of which they stored versions with different end times, where the
 * counter does not look itself. The counter then keeps one version (docs/adr/0047-nodes-settle-what-is-one-span.md).
 */
export type SpanSettler = {
  /**
   * Settles spans without a trace and without a time of their own, whose identity follows from an `Idempotency-Key`.
   */
  subscriber: SpanSubscriber;
  /** Settles all spans stored recently: a replica may not have had one when a node looked. */
  settleRecent(signal: AbortSignal): Promise<void>;
};

export function createSpanSettler({
  spans,
  counter,
}: {
  spans: Pick<SpanStore, "listDivided">;
  counter: Pick<SpanCounter, "recount">;
}): SpanSettler {
  const settle = async (query: Parameters<SpanStore["listDivided"]>[0], signal: AbortSignal): Promise<void> => {
    const found = await spans.listDivided(query, signal);
    const byOrganization = Map.groupBy(found, ({ organizationId }) => organizationId);
    for (const [organizationId, names] of byOrganization) await counter.recount(organizationId, names);
  };
  const subscriber: SpanSubscriber = {
    name: "span identities",
    batchRows: countingLimits.countedBatchRows,
    readsContent: false,
    wants: () => true,
    concerns: isAlone,
    async consume(batch, signal) {
      const byOrganization = Map.groupBy(batch, ({ organizationId }) => organizationId);
      for (const [organizationId, stored] of byOrganization) {
        const ids = stored.flatMap(({ rows }) => rows.filter(isAlone).map((row) => row.unique_id));
        for (let from = 0; from < ids.length; from += domainLimits.dividedIdsRead)
          await settle({ organizationId, ids: ids.slice(from, from + domainLimits.dividedIdsRead) }, signal);
      }
    },
  };
  return {
    subscriber,
    settleRecent: (signal) =>
      settle({ withinMs: countingLimits.dividedWithinMs, limit: countingLimits.dividedFound }, signal),
  };
}

/**
 * Whether this is a span without a trace, which the counter does not read, whose identity follows from the key and the
 * bytes of its request. If it states a time, all of its rows have that time and replace each other. Otherwise it ends
 * when it is received.
 */
function isAlone({ trace_unique_id: trace, unique_id, timestamp, received_at }: SpanRow): boolean {
  return (trace ?? "") === "" && timestamp === received_at && isDerivedId(unique_id);
}

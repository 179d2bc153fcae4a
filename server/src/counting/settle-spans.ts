import type { SpanRow } from "../domain/span.ts";
import { isDerivedId } from "../domain/identity.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import { ingestLimits } from "../ingest/limits.ts";
import { countingLimits } from "./limits.ts";
import { parseTimeNs } from "../lib/time.ts";
import type { SpanStore, TimeWindow } from "../storage/spans/span-store.ts";
import type { SpanCounter } from "./span-counter.ts";

/**
 * If several nodes write one store: finds spans of which they stored versions with different end times, where the
 * counter does not look itself. The counter then keeps one version (docs/adr/0047-duplicate-spans-are-resolved-in-the-span-store.md).
 */
export type SpanSettler = {
  /**
   * Settles spans without a trace and without a time of their own, whose identity follows from an `Idempotency-Key`, if
   * nodes received them within `keyedResendMs` of each other.
   */
  subscriber: SpanSubscriber;
  /** Settles the others of them, and all spans that were stored recently: a replica may not have had one before. */
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
        const window = windowAround(stored.flatMap(({ rows }) => rows.filter(isAlone)));
        if (window !== undefined) await settle({ organizationId, window }, signal);
      }
    },
  };
  return {
    subscriber,
    async settleRecent(signal) {
      const recent = { withinMs: countingLimits.dividedWithinMs, limit: countingLimits.dividedFound };
      await settle(recent, signal);
      await settle({ ...recent, endedWithinMs: ingestLimits.identityMemoryMs }, signal);
    },
  };
}

/**
 * When other versions of these spans may have been received. A range of times is read by the primary key, and says in a
 * few bytes which spans to look for: their ids would be looked for in the whole table.
 */
function windowAround(rows: readonly SpanRow[]): TimeWindow | undefined {
  let [first, last] = [rows[0]?.timestamp, rows[0]?.timestamp];
  for (const { timestamp } of rows) {
    if (first === undefined || timestamp < first) first = timestamp;
    if (last === undefined || timestamp > last) last = timestamp;
  }
  const [fromNs, toNs] = [parseTimeNs(first ?? ""), parseTimeNs(last ?? "")];
  if (fromNs === undefined || toNs === undefined) return undefined;
  const marginNs = BigInt(countingLimits.keyedResendMs) * 1_000_000n;
  return { fromNs: fromNs - marginNs, toNs: toNs + marginNs };
}

/**
 * Whether this is a span without a trace, which the counter does not read, whose identity follows from the key and the
 * bytes of its request. If it states a time, all of its rows have that time and replace each other. Otherwise it ends
 * when it is received.
 */
function isAlone({ trace_unique_id: trace, unique_id, timestamp, received_at }: SpanRow): boolean {
  return (trace ?? "") === "" && timestamp === received_at && isDerivedId(unique_id);
}

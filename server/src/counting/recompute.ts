import type { ErasedCustomers } from "../ingest/accept/erased-customers.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { createSpanCounter } from "./span-counter.ts";

/**
 * Recomputes what every span of some organizations counts for, and rebuilds all sums. Returns the number of traces. It
 * may be aborted and repeated.
 * @throws ServiceError `conflict` while a server has the store inside its process
 */
export type RecomputeUsage = (organizationIds: readonly string[]) => Promise<number>;

/** Approximate number of traces counted at a time. */
const tracesAtATime = 2_000;

/** @param withSpans opens the store for the duration of `use` */
export function createRecompute(
  withSpans: <T>(use: (spans: SpanStore) => Promise<T>) => Promise<T>,
  loadErased: () => Promise<ErasedCustomers>,
  now: () => number,
): RecomputeUsage {
  return async (organizationIds) =>
    await withSpans(async (spans) => {
      const memory = { isComplete: false, hasHistory: true, mayHaveEarlier: () => true };
      const counter = createSpanCounter({ store: spans, memory, erasedCustomers: await loadErased(), now });
      let traces = 0;
      for (const organizationId of organizationIds) {
        const parts = Math.ceil((await spans.countTraceNames(organizationId)) / tracesAtATime) + 1;
        for (let part = 0; part < parts; part += 1) {
          const names = await spans.listTraceNames({ organizationId, part, parts });
          await counter.recount(organizationId, names);
          traces += names.length;
        }
      }
      await spans.resetSums();
      return traces;
    });
}

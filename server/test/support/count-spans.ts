import { createSpanCounter } from "../../src/counting/span-counter.ts";
import { createErasedCustomers } from "../../src/ingest/accept/erased-customers.ts";
import type { SpanStore } from "../../src/storage/spans/span-store.ts";

/** Computes the counts of these rows, as the service does once they are stored. */
export async function countSpans(store: SpanStore, rows: readonly object[]): Promise<void> {
  const memory = { isComplete: false, hasHistory: true, mayHaveEarlier: () => true };
  const counter = createSpanCounter({ store, memory, erasedCustomers: createErasedCustomers(), now: Date.now });
  const named = rows.map((row) => {
    const { organization_id, environment, trace_unique_id } = row as Record<string, string | undefined>;
    return {
      organizationId: organization_id ?? "",
      environment: environment ?? "",
      trace_unique_id: trace_unique_id ?? "",
    };
  });
  const traces = named.filter(({ trace_unique_id }) => trace_unique_id !== "");
  for (const [organizationId, names] of Map.groupBy(traces, (trace) => trace.organizationId)) {
    await counter.recount(organizationId, names);
  }
}

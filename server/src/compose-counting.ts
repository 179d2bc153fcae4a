import { createSpanCounter, type SpanCounter } from "./counting/span-counter.ts";
import { createTraceHistory } from "./counting/trace-history.ts";
import type { ErasedCustomers } from "./ingest/erased-customers.ts";
import type { Journal } from "./storage/journal/journal.ts";
import type { SpanStore } from "./storage/spans/span-store.ts";

/** Finds what spans count for. */
export function composeCounting({
  journal,
  spans,
  store,
  isOnlyNode,
  erasedCustomers,
  now,
}: {
  journal: Pick<Journal, "hasEarlier" | "hasHistory">;
  spans: Pick<SpanStore, "readUsageFacts" | "listCountedOf">;
  /** Where rows go: waits for the tables of a remote store. */
  store: Pick<SpanStore, "insert">;
  isOnlyNode: boolean;
  erasedCustomers: ErasedCustomers;
  now: () => number;
}): SpanCounter {
  return createSpanCounter({
    store: { ...spans, insert: store.insert },
    memory: { isComplete: isOnlyNode, hasHistory: journal.hasHistory, mayHaveEarlier: createTraceHistory(journal) },
    erasedCustomers,
    now,
  });
}

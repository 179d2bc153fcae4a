import type { Logger } from "pino";
import { createSpanSettler } from "../counting/settle-spans.ts";
import { createSpanCounter, type SpanCounter } from "../counting/span-counter.ts";
import { createTraceHistory } from "../counting/trace-history.ts";
import type { ErasedCustomers } from "../ingest/accept/erased-customers.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import { scheduleJob } from "../jobs/schedule.ts";
import { countingLimits } from "../counting/limits.ts";
import type { Journal } from "../storage/journal/journal.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

/** Computes what spans count for, and, if nodes share a store, which rows are one span. */
export function composeCounting({
  journal,
  spans,
  store,
  isOnlyNode,
  isReady,
  erasedCustomers,
  logger,
  cleanup,
  now,
}: {
  journal: Pick<Journal, "hasEarlier" | "hasHistory">;
  spans: Pick<SpanStore, "readUsageFacts" | "listCountedOf" | "listDivided">;
  /** Destination of rows: waits for the tables of a remote store. */
  store: Pick<SpanStore, "insert">;
  isOnlyNode: boolean;
  /** Whether the tables exist. */
  isReady: () => boolean;
  erasedCustomers: ErasedCustomers;
  logger: Logger;
  cleanup: Array<() => Promise<void> | void>;
  now: () => number;
}): { counter: SpanCounter; subscribers: SpanSubscriber[] } {
  const counter = createSpanCounter({
    store: { ...spans, insert: store.insert },
    memory: { isComplete: isOnlyNode, hasHistory: journal.hasHistory, mayHaveEarlier: createTraceHistory(journal) },
    erasedCustomers,
    now,
  });
  if (isOnlyNode) return { counter, subscribers: [counter] };
  const settler = createSpanSettler({ spans, counter });
  const settling = scheduleJob(
    { name: "span identities", everyMs: countingLimits.dividedEveryMs, logger },
    async (signal) => {
      if (isReady()) await settler.settleRecent(signal);
    },
  );
  cleanup.push(() => settling.stop());
  return { counter, subscribers: [counter, settler.subscriber] };
}

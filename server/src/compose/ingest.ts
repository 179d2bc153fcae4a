import type { WatchLimits } from "../lib/fair-share.ts";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Registry } from "prom-client";
import { createSpanIntake, type SpanIntake } from "../ingest/accept/accept.ts";
import { createAcceptCalls, type AcceptCalls } from "../ingest/accept/recorded-call.ts";
import { createDeletedTraces, type DeletedTraces } from "../ingest/accept/deleted-traces.ts";
import type { ErasedCustomers } from "../ingest/accept/erased-customers.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import { createFanOut, type SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import type { ReadMonitor } from "../ingest/writer/read-monitor.ts";
import { withMediaApart } from "../ingest/media/separate-media.ts";
import { leaveOutDeleted } from "../ingest/accept/recalled-span.ts";
import { createReadBack } from "../ingest/fan-out/read-back.ts";
import { createSpanHistory } from "../ingest/accept/span-history.ts";
import { createSpanWriter, type SpanWriter } from "../ingest/writer/writer.ts";
import { createAdopt, type Adopt } from "../ingest/writer/adopt.ts";
import { loadTraceDeletions } from "../jobs/trace-deletions.ts";
import { randomToken } from "../lib/random-token.ts";
import { httpLimits } from "../http/limits.ts";
import { ingestLimits } from "../ingest/limits.ts";
import type { TraceDeletionStore } from "../storage/control/trace-deletion-store.ts";
import type { Journal } from "../storage/journal/journal.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import {
  watchDeletedTraces,
  createFanOutMetrics,
  watchSubscribers,
  createIngestMetrics,
} from "../telemetry/ingest-metrics.ts";

export type IngestParts = {
  journal: Journal;
  spans: Pick<SpanStore, "listSpans" | "readEdits" | "readVersions">;
  /** Destination of rows: waits for the tables of a remote store. */
  store: Pick<SpanStore, "insert">;
  deletions: TraceDeletionStore;
  erasedCustomers: ErasedCustomers;
  /** Whether no other node writes the store. */
  isOnlyNode: boolean;
  prices: PriceBook;
  /**
   * Subscribers to stored spans. They must know by now which spans they want: spans that no subscriber wants are not
   * retained.
   */
  subscribers: readonly SpanSubscriber[];
  /** Set if all reads of the store happen on this node. */
  reads: ReadMonitor | undefined;
  config: Pick<Config, "insertMs" | "insertRows">;
  watchLimits: WatchLimits;
  logger: Logger;
  now: () => number;
};

/** From the intake through the journal into the span store, and to subscribers. */
export async function composeIngest(
  { registry, cleanup }: { registry: Registry; cleanup: Array<() => Promise<void> | void> },
  parts: IngestParts,
): Promise<{
  writer: SpanWriter;
  /** Resolves once all accepted spans are stored, and these subscribers have consumed them. */
  settle: (subscribers: readonly string[]) => Promise<void>;
  intake: SpanIntake;
  acceptCalls: AcceptCalls;
  adopt: Adopt;
  deletedTraces: DeletedTraces;
}> {
  const { journal, spans, erasedCustomers, isOnlyNode, prices, reads, logger, now } = parts;
  const metrics = createIngestMetrics(registry, journal);
  const deletedTraces = createDeletedTraces(now);
  watchDeletedTraces(registry, deletedTraces);
  await loadTraceDeletions({ deletions: parts.deletions, deletedTraces, now });

  const withoutDeleted = (payload: Buffer): Buffer => leaveOutDeleted(payload, deletedTraces);
  const fanOut = createFanOut({
    journal,
    leaveOutDeleted: withoutDeleted,
    subscribers: parts.subscribers,
    readBack: createReadBack(spans),
    erasedCustomers,
    spans,
    maxRetainedBytes: ingestLimits.fanOutRetainedBytes,
    metrics: createFanOutMetrics(registry, journal.retained),
    logger,
  });
  watchSubscribers(registry, () => fanOut.waiting());
  parts.watchLimits({ fanOutRetainedBytes: fanOut.limit() });
  fanOut.start();
  cleanup.push(() => fanOut.stop());
  const nodeId = randomToken(12);
  const writer = createSpanWriter({
    journal,
    store: withMediaApart(parts.store, now),
    leaveOutDeleted: withoutDeleted,
    metrics,
    fanOut,
    ...(reads && { reads }),
    groups: { ms: parts.config.insertMs, rows: parts.config.insertRows },
    logger,
    nodeId,
    now,
  });
  writer.start();
  cleanup.push(() => writer.stop(httpLimits.shutdownGraceMs));

  const intake = createSpanIntake({
    journal,
    prices,
    metrics,
    fanOut,
    writer,
    deletedTraces,
    erasedCustomers,
    isOnlyNode,
    history: isOnlyNode ? undefined : createSpanHistory({ spans, journal, deletedTraces, erasedCustomers, logger }),
    now,
  });
  const acceptCalls = createAcceptCalls({ intake, logger });
  const adopt = createAdopt({ intake, acceptCalls, journal, writer, logger });
  const settle = (names: readonly string[]) => writer.flush().then(() => fanOut.drained(names));
  return { writer, settle, intake, acceptCalls, adopt, deletedTraces };
}

import { setTimeout as sleep } from "node:timers/promises";
import { editedMetadata, type SpanEdits } from "../../domain/span-edit.ts";
import type { SpanRow } from "../../domain/span.ts";
import { indexMetadata } from "../../filter/metadata-index.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import { rangeCovering, type MissedRange } from "../../storage/journal/retained-entries.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { ingestLimits } from "../limits.ts";
import type { FanOutDeps, SpanSubscriber, StoredSpans } from "./fan-out.ts";

export type Consumer = {
  /** Queues an entry to dispatch. */
  push(seq: number): void;
  /** Adds a range of spans to read back. Returns the range that is still unread, to be stored on disk. */
  miss(range: MissedRange): MissedRange;
  /** The number of entries that are queued or being consumed, and the arrival of the oldest, by `performance.now`. */
  waiting(): { entries: number; sinceMs: number | undefined };
  start(): void;
  drained(): Promise<void>;
  stop(): Promise<void>;
};

type ConsumerDeps = Pick<FanOutDeps, "journal" | "readBack" | "erasedCustomers" | "spans" | "metrics" | "logger"> & {
  load(seq: number): StoredSpans | undefined;
  acknowledge(seqs: readonly number[]): void;
};

export function createConsumer(subscriber: SpanSubscriber, deps: ConsumerDeps): Consumer {
  return new SubscriberConsumer(subscriber, deps);
}

/** The queue and missed ranges of one subscriber. */
class SubscriberConsumer implements Consumer {
  readonly #subscriber: SpanSubscriber;
  readonly #deps: ConsumerDeps;
  readonly #stopping = new AbortController();
  #queue: number[] = [];
  /** The arrival time of each entry in the queue. */
  #arrivedMs: number[] = [];
  /** The arrival times of the entries that are being consumed. */
  #inFlightMs: readonly number[] = [];
  /**
   * The queue begins at this index: removing entries from its front one by one would cost time proportional to its length.
   */
  #head = 0;
  readonly #missed = new Map<string, MissedRange>();
  #reading: MissedRange | undefined;
  #failures = 0;
  #running: Promise<void> | undefined;
  #wake = (): void => undefined;
  #isIdle = true;
  #whenIdle: Array<() => void> = [];

  constructor(subscriber: SpanSubscriber, deps: ConsumerDeps) {
    this.#subscriber = subscriber;
    this.#deps = deps;
  }

  push(seq: number): void {
    this.#queue.push(seq);
    this.#arrivedMs.push(performance.now());
    this.#isIdle = false;
    this.#wake();
  }

  miss(range: MissedRange): MissedRange {
    const { organizationId } = range;
    const open = this.#missed.get(organizationId);
    const unread = open === undefined ? range : { ...range, ...rangeCovering(open, range) };
    this.#missed.set(organizationId, unread);
    this.#isIdle = false;
    this.#wake();
    const reading = this.#reading;
    return reading?.organizationId === organizationId ? { ...unread, ...rangeCovering(reading, unread) } : unread;
  }

  waiting(): { entries: number; sinceMs: number | undefined } {
    let sinceMs = Infinity;
    // Refused entries are queued again, so the first need not be the oldest.
    for (const ms of this.#inFlightMs) sinceMs = Math.min(sinceMs, ms);
    for (let at = this.#head; at < this.#arrivedMs.length; at += 1)
      sinceMs = Math.min(sinceMs, this.#arrivedMs[at] ?? sinceMs);
    const entries = this.#queue.length - this.#head + this.#inFlightMs.length;
    return { entries, sinceMs: entries === 0 ? undefined : sinceMs };
  }

  start(): void {
    this.#running = this.#loop();
  }

  async drained(): Promise<void> {
    if (!this.#isIdle) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#running;
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        if (this.#head < this.#queue.length) await this.#consumeBatch();
        else if (this.#missed.size === 0) await this.#pause();
        else await this.#consumeMissed();
        this.#failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        await this.#failed(error);
      }
    }
  }

  async #consumeBatch(): Promise<void> {
    const seqs: number[] = [];
    const batch: StoredSpans[] = [];
    let rows = 0;
    // After a failure entries are dispatched one by one, so that a bad one does not block others.
    const maxRows = this.#failures > 0 ? 1 : (this.#subscriber.batchRows ?? ingestLimits.fanOutBatchRows);
    for (let at = this.#head; at < this.#queue.length && rows < maxRows; at += 1) {
      const seq = this.#queue[at] ?? 0;
      const spans = this.#deps.load(seq);
      seqs.push(seq);
      if (spans !== undefined) batch.push(spans);
      rows += spans?.rows.length ?? 0;
    }
    this.#inFlightMs = this.#arrivedMs.slice(this.#head, this.#head + seqs.length);
    this.#head += seqs.length;
    if (this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#arrivedMs = this.#arrivedMs.slice(this.#head);
      this.#head = 0;
    }
    try {
      await this.#consume(batch);
    } catch (error) {
      this.#queue.push(...seqs);
      this.#arrivedMs.push(...this.#inFlightMs);
      throw error;
    } finally {
      this.#inFlightMs = [];
    }
    this.#deps.acknowledge(seqs);
  }

  /** Reads missed spans back, a page at a time. Spans missed meanwhile are a separate range. */
  async #consumeMissed(): Promise<void> {
    const range = this.#missed.values().find(({ organizationId }) => !this.#isFull(organizationId));
    if (range === undefined) return await this.#waitForCapacity();
    const { organizationId } = range;
    this.#missed.delete(organizationId);
    this.#reading = range;
    try {
      if (this.#subscriber.wants(organizationId)) {
        const pages = this.#deps.readBack(range, this.#stopping.signal);
        for await (const rows of pages) {
          await this.#consume([{ organizationId, rows }]);
          if (!this.#isFull(organizationId)) continue;
          // The range is read again later: subscribers recognize repeated spans by their identity.
          this.miss(range);
          break;
        }
      }
      await this.#deps.journal.retained.replaceMissed(range, this.#missed.get(organizationId));
      this.#reading = undefined;
    } catch (error) {
      this.#reading = undefined;
      this.miss(range);
      throw error;
    }
  }

  #isFull(organizationId: string): boolean {
    return this.#subscriber.isFull?.(organizationId) ?? false;
  }

  /** Waits until the queue may have capacity again, or a new entry arrives. */
  async #waitForCapacity(): Promise<void> {
    const timer = setTimeout(() => this.#wake(), ingestLimits.queueCapacityEveryMs);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#stopping.signal.aborted) resolve();
    });
    clearTimeout(timer);
  }

  async #consume(batch: readonly StoredSpans[]): Promise<void> {
    if (batch.length > 0) await this.#subscriber.consume(await this.#edited(this.#shown(batch)), this.#stopping.signal);
    // A subscriber that never waits must not block the event loop.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #shown(batch: readonly StoredSpans[]): readonly StoredSpans[] {
    const erased = this.#deps.erasedCustomers;
    if (erased === undefined || this.#subscriber.seesErased === true) return batch;
    return batch.map(({ organizationId, rows }) => ({ organizationId, rows: erased.withoutErased(rows) }));
  }

  async #edited(batch: readonly StoredSpans[]): Promise<readonly StoredSpans[]> {
    const { spans } = this.#deps;
    if (spans === undefined || this.#subscriber.readsContent === false) return batch;
    const { signal } = this.#stopping;
    return await Promise.all(batch.map((each) => editedRows(spans, each, signal)));
  }

  async #pause(): Promise<void> {
    this.#isIdle = true;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
    await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  async #failed(cause: unknown): Promise<void> {
    const { metrics, logger } = this.#deps;
    const subscriber = this.#subscriber.name;
    metrics.failures.inc({ subscriber });
    if (this.#failures === 0) logger.error({ err: cause, subscriber }, "spans could not be dispatched; retrying");
    this.#failures += 1;
    const delayMs = Math.min(
      ingestLimits.fanOutRetryMaxMs,
      ingestLimits.fanOutRetryMinMs * 2 ** Math.min(this.#failures, 16),
    );
    const jittered = delayMs * (0.5 + Math.random() / 2);
    await sleep(jittered, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

/** Applies edits to rows as they were sent, for subscribers that read content. */
async function editedRows(
  spans: Pick<SpanStore, "readEdits">,
  { organizationId, rows }: StoredSpans,
  signal: AbortSignal,
): Promise<StoredSpans> {
  const ids = rows.map((row) => row.unique_id);
  const edits = await spans.readEdits({ organization_id: organizationId }, ids, signal);
  return edits.size === 0
    ? { organizationId, rows }
    : { organizationId, rows: rows.map((row) => editedRow(row, edits.get(row.unique_id))) };
}

function editedRow(row: SpanRow, edits: SpanEdits | undefined): SpanRow {
  if (edits === undefined) return row;
  const { metadata: changes, ...plain } = edits;
  const edited = { ...row, ...plain };
  if (changes.size === 0) return edited;
  const sent =
    typeof row.metadata === "string" && row.metadata !== "" ? parseKeepingDigits(row.metadata) : row.metadata;
  const metadata = editedMetadata(isObject(sent) ? sent : {}, changes);
  return { ...edited, metadata, metadata_index: indexMetadata(metadata) };
}

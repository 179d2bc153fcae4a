import { setTimeout as sleep } from "node:timers/promises";
import { ingestLimits } from "../limits.ts";
import { rangeCovering, type MissedRange } from "../../storage/journal/retained-entries.ts";
import { editedRows } from "./edited-rows.ts";
import type { FanOutDeps, SpanSubscriber, StoredSpans } from "./fan-out.ts";

export type Consumer = {
  /** Queues an entry to dispatch. */
  push(seq: number): void;
  /** Adds a stretch of spans to read back. Returns the whole stretch that is still unread, to be stored on disk. */
  miss(stretch: MissedRange): MissedRange;
  /** The number of entries that are queued or being taken, and the arrival of the oldest, by `performance.now`. */
  waiting(): { entries: number; sinceMs: number | undefined };
  start(): void;
  drained(): Promise<void>;
  stop(): Promise<void>;
};

type ConsumerDeps = Pick<FanOutDeps, "journal" | "readBack" | "erasedCustomers" | "spans" | "metrics" | "logger"> & {
  load(seq: number): StoredSpans | undefined;
  done(seqs: readonly number[]): void;
};

export function createConsumer(subscriber: SpanSubscriber, deps: ConsumerDeps): Consumer {
  return new SubscriberConsumer(subscriber, deps);
}

/** The queue and missed stretches of one subscriber. */
class SubscriberConsumer implements Consumer {
  readonly #subscriber: SpanSubscriber;
  readonly #deps: ConsumerDeps;
  readonly #stopping = new AbortController();
  #queue: number[] = [];
  /** The arrival time of each entry in the queue. */
  #cameMs: number[] = [];
  /** The arrival times of the entries that are being taken. */
  #takingMs: readonly number[] = [];
  /**
   * The taken part of the queue: removing entries from its front one by one would cost time proportional to its length.
   */
  #taken = 0;
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
    this.#cameMs.push(performance.now());
    this.#isIdle = false;
    this.#wake();
  }

  miss(stretch: MissedRange): MissedRange {
    const { organizationId } = stretch;
    const open = this.#missed.get(organizationId);
    const unread = open === undefined ? stretch : { ...stretch, ...rangeCovering(open, stretch) };
    this.#missed.set(organizationId, unread);
    this.#isIdle = false;
    this.#wake();
    const reading = this.#reading;
    return reading?.organizationId === organizationId ? { ...unread, ...rangeCovering(reading, unread) } : unread;
  }

  waiting(): { entries: number; sinceMs: number | undefined } {
    let sinceMs = Infinity;
    // Refused entries are queued again, so the first need not be the oldest.
    for (const ms of this.#takingMs) sinceMs = Math.min(sinceMs, ms);
    for (let at = this.#taken; at < this.#cameMs.length; at += 1)
      sinceMs = Math.min(sinceMs, this.#cameMs[at] ?? sinceMs);
    const entries = this.#queue.length - this.#taken + this.#takingMs.length;
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
        if (this.#taken < this.#queue.length) await this.#takeBatch();
        else if (this.#missed.size === 0) await this.#pause();
        else await this.#takeMissed();
        this.#failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        await this.#failed(error);
      }
    }
  }

  async #takeBatch(): Promise<void> {
    const seqs: number[] = [];
    const batch: StoredSpans[] = [];
    let rows = 0;
    // After a failure entries are dispatched one by one, so that a bad one does not block others.
    const maxRows = this.#failures > 0 ? 1 : (this.#subscriber.batchRows ?? ingestLimits.fanOutBatchRows);
    for (let at = this.#taken; at < this.#queue.length && rows < maxRows; at += 1) {
      const seq = this.#queue[at] ?? 0;
      const spans = this.#deps.load(seq);
      seqs.push(seq);
      if (spans !== undefined) batch.push(spans);
      rows += spans?.rows.length ?? 0;
    }
    this.#takingMs = this.#cameMs.slice(this.#taken, this.#taken + seqs.length);
    this.#taken += seqs.length;
    if (this.#taken * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#taken);
      this.#cameMs = this.#cameMs.slice(this.#taken);
      this.#taken = 0;
    }
    try {
      await this.#take(batch);
    } catch (error) {
      this.#queue.push(...seqs);
      this.#cameMs.push(...this.#takingMs);
      throw error;
    } finally {
      this.#takingMs = [];
    }
    this.#deps.done(seqs);
  }

  /** Reads missed spans back, a page at a time. Spans missed meanwhile are a separate stretch. */
  async #takeMissed(): Promise<void> {
    const stretch = this.#missed.values().find(({ organizationId }) => !this.#isFull(organizationId));
    if (stretch === undefined) return await this.#waitForRoom();
    const { organizationId } = stretch;
    this.#missed.delete(organizationId);
    this.#reading = stretch;
    try {
      if (this.#subscriber.wants(organizationId)) {
        const pages = this.#deps.readBack(stretch, this.#stopping.signal);
        for await (const rows of pages) {
          await this.#take([{ organizationId, rows }]);
          if (!this.#isFull(organizationId)) continue;
          // The whole stretch is read again later: subscribers recognize repeated spans by their identity.
          this.miss(stretch);
          break;
        }
      }
      await this.#deps.journal.retained.replaceMissed(stretch, this.#missed.get(organizationId));
      this.#reading = undefined;
    } catch (error) {
      this.#reading = undefined;
      this.miss(stretch);
      throw error;
    }
  }

  #isFull(organizationId: string): boolean {
    return this.#subscriber.isFull?.(organizationId) ?? false;
  }

  /** Waits until there may be room again, or a new entry arrives. */
  async #waitForRoom(): Promise<void> {
    const timer = setTimeout(() => this.#wake(), ingestLimits.queueRoomEveryMs);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#stopping.signal.aborted) resolve();
    });
    clearTimeout(timer);
  }

  async #take(batch: readonly StoredSpans[]): Promise<void> {
    if (batch.length > 0) await this.#subscriber.take(await this.#edited(this.#shown(batch)), this.#stopping.signal);
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

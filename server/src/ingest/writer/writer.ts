import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { domainLimits } from "../../domain/limits.ts";
import { freeBytes } from "../../lib/free-bytes.ts";
import { ingestLimits } from "../limits.ts";
import type { Journal, JournalEntry } from "../../storage/journal/journal.ts";
import type { Retention } from "../../storage/journal/retained-entries.ts";
import { isPoisonBatch } from "../../storage/spans/span-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import type { IngestMetrics } from "../../telemetry/ingest-metrics.ts";
import type { FanOut } from "../fan-out/fan-out.ts";
import type { ReadMonitor } from "./read-monitor.ts";
import { markResends, splitLines } from "./row-lines.ts";

/**
 * Moves accepted rows from the journal into the span store, in groups, for the life of the process.
 *
 * A store that is down or slow is retried until it takes the group. A group that it refuses for its content is split
 * until the bad row is alone; that row is quarantined in the journal. Rows carry their identity and version, so writing
 * one twice (a crash between insert and journal removal) is the same as writing it once.
 */
export type SpanWriter = {
  /** Queues what an earlier process left in the journal; `state().isReplayed` shows when it is stored. */
  start(): void;
  /** Queues a committed entry. The writer owns its bytes from now on: callers must not read them. */
  add(entry: JournalEntry, payload: Buffer): void;
  state(): WriterState;
  /** Resolves once everything added before is stored; skips the waiting times of groups. */
  flush(): Promise<void>;
  /** The same without skipping them, for at most `timeoutMs`: for reads that must see what their caller just wrote. */
  caughtUp(timeoutMs: number): Promise<boolean>;
  /** Flushes while the store takes rows, at most `graceMs`; the journal keeps the others. */
  stop(graceMs: number): Promise<void>;
};

export type WriterState = {
  isReplayed: boolean;
  queuedEntries: number;
  /** Since when the store has been failing, and why; undefined while it takes rows. */
  failing: { sinceMs: number; reason: string } | undefined;
};

export type SpanWriterDeps = {
  journal: Journal;
  store: Pick<SpanStore, "insert">;
  metrics: IngestMetrics;
  /** Notified of stored entries. */
  fanOut?: Pick<FanOut, "retain" | "retained">;
  /** Removes rows of deleted traces from entries of an earlier process. */
  leaveOutDeleted?: (payload: Buffer) => Buffer;
  /** Without it, groups never wait for the longer time that applies while nobody reads. */
  reads?: Pick<ReadMonitor, "isRead">;
  /** How long a group waits, and its maximum number of rows. Without `ms`, the time depends on load and reads. */
  groups?: { ms: number | undefined; rows: number };
  logger: Logger;
  /** Part of the insert tokens, so that those of two nodes never collide. */
  nodeId: string;
  now: () => number;
};

type Batch = { payload: Buffer; rows: number; token: string; hasResends: boolean };

export function createSpanWriter(deps: SpanWriterDeps): SpanWriter {
  return new JournalWriter(deps);
}

class JournalWriter implements SpanWriter {
  readonly #deps: SpanWriterDeps;
  readonly #queue: WriterQueue;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #lastReplaySeq = 0;
  #addedSeq = 0;
  /** Stored, but not removed from the journal yet. */
  #stored: Array<{ seqs: number[]; retained: Retention }> = [];
  #failedRemovals = 0;
  #writtenSeq = 0;
  #failing: WriterState["failing"];
  #flushRequested = false;
  readonly #waiters = new Set<{ seq: number; resolve: () => void }>();
  #wake = (): void => undefined;
  #onFailure = (): void => undefined;

  constructor(deps: SpanWriterDeps) {
    this.#deps = deps;
    this.#queue = createWriterQueue(deps.groups?.rows ?? ingestLimits.writerGroupRows);
  }

  start(): void {
    const { journal, logger } = this.#deps;
    let entries = journal.pending(0, ingestLimits.journalReplayPage);
    while (entries.length > 0) {
      for (const entry of entries) this.#enqueue(entry, undefined);
      entries = journal.pending(this.#addedSeq, ingestLimits.journalReplayPage);
    }
    this.#lastReplaySeq = this.#addedSeq;
    if (this.#queue.size() > 0) logger.info({ entries: this.#queue.size() }, "replaying the journal");
    this.#running = this.#loop();
  }

  add(entry: JournalEntry, payload: Buffer): void {
    this.#enqueue(entry, payload);
  }

  state(): WriterState {
    return {
      isReplayed: this.#running !== undefined && this.#writtenSeq >= this.#lastReplaySeq,
      queuedEntries: this.#queue.size(),
      failing: this.#failing,
    };
  }

  async flush(): Promise<void> {
    if (this.#writtenSeq >= this.#addedSeq) return;
    this.#flushRequested = true;
    this.#wake();
    const seq = this.#addedSeq;
    await new Promise<void>((resolve) => this.#waiters.add({ seq, resolve }));
  }

  async caughtUp(timeoutMs: number): Promise<boolean> {
    if (this.#writtenSeq >= this.#addedSeq || this.#failing) return this.#writtenSeq >= this.#addedSeq;
    const waiter = { seq: this.#addedSeq, resolve: (): void => undefined };
    const written = new Promise<void>((resolve) => (waiter.resolve = resolve));
    this.#waiters.add(waiter);
    // While a store hangs, waiters that timed out must not accumulate.
    await Promise.race([written, sleep(timeoutMs, undefined, { ref: false })]);
    this.#waiters.delete(waiter);
    return this.#writtenSeq >= waiter.seq;
  }

  async stop(graceMs: number): Promise<void> {
    // A store that refuses rows will not take the others within the grace period either: the journal keeps them.
    const refused = new Promise<void>((resolve) => (this.#onFailure = resolve));
    if (!this.#failing) await Promise.race([this.flush(), refused, sleep(graceMs, undefined, { ref: false })]);
    this.#stopping.abort();
    this.#wake();
    await this.#running;
  }

  #enqueue(entry: JournalEntry, payload: Buffer | undefined): void {
    this.#queue.push(entry, payload);
    this.#addedSeq = entry.seq;
    if (this.#queue.size() === 1 || this.#queue.isGroupFull()) this.#wake();
  }

  async #loop(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      if (this.#queue.size() > 0) {
        await this.#waitForGroup();
        await this.#writeGroup(this.#queue.takeGroup());
      } else {
        // While a disk is full, no new entry may arrive before the stored ones are removed from the journal.
        await this.#wokenWithin(this.#stored.length > 0 ? retryDelayMs(this.#failedRemovals) : undefined);
        if (this.#stored.length > 0) await this.#removeStored();
      }
    }
  }

  async #wokenWithin(ms: number | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (ms !== undefined) timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  /**
   * Waits until a group is full, its oldest entry has waited long enough, or a flush is requested. Under load the wait
   * is longer: an insert costs the store as much as a few hundred rows of it, and merges rewrite the rows of small
   * inserts more often. It is longest while nobody reads. Time spent while the previous group was written counts.
   */
  async #waitForGroup(): Promise<void> {
    const { writerGroupMs, writerBusyGroupMs, writerUnreadGroupMs } = ingestLimits;
    const ms = this.#deps.groups?.ms;
    if (ms !== undefined) return this.#waitUntilOld(ms);
    await this.#waitUntilOld(writerGroupMs);
    if (this.#queue.rows() > ingestLimits.writerSmallGroupRows) await this.#waitUntilOld(writerBusyGroupMs);
    if (this.#queue.rows() < ingestLimits.writerLargeGroupRows) return;
    for (let waitMs = writerBusyGroupMs; waitMs < writerUnreadGroupMs && !this.#isAwaited(); waitMs += writerGroupMs)
      await this.#waitUntilOld(waitMs + writerGroupMs);
  }

  #isAwaited(): boolean {
    return this.#waiters.size > 0 || this.#deps.reads?.isRead() !== false;
  }

  async #waitUntilOld(ms: number): Promise<void> {
    const leftMs = ms - this.#queue.waitedMs();
    if (leftMs <= 0 || this.#queue.isGroupFull() || this.#flushRequested || this.#stopping.signal.aborted) return;
    await this.#wokenWithin(leftMs);
  }

  async #writeGroup({ entries, rows, hasResends }: Group): Promise<void> {
    const { journal, nodeId } = this.#deps;
    const seqs = entries.map(({ seq }) => seq);
    const isReplayed = (i: number) => (seqs[i] ?? 0) <= this.#lastReplaySeq;
    const payloads = entries.map(({ seq, payload }, i) => {
      const bytes = payload ?? journal.read(seq) ?? Buffer.alloc(0);
      return isReplayed(i) ? (this.#deps.leaveOutDeleted?.(bytes) ?? bytes) : bytes;
    });
    const lastSeq = seqs.at(-1) ?? 0;
    const token = `${nodeId}:${seqs[0]}-${lastSeq}`;
    const payload = Buffer.concat(payloads.map((bytes, i) => (isReplayed(i) ? markResends(bytes) : bytes)));
    if (payload.length > 0 && !(await this.#insert({ payload, rows, token, hasResends }))) return;
    const retained = this.#deps.fanOut?.retain(
      seqs.map((seq, i) => ({ seq, payload: payloads[i] ?? Buffer.alloc(0) })),
    );
    this.#stored.push({ seqs, retained: retained ?? { entries: [], missed: [] } });
    for (const entry of entries) if (entry.payload !== undefined) freeBytes(entry.payload);
    await this.#removeStored();
    this.#writtenSeq = lastSeq;
    for (const waiter of this.#waiters) {
      if (waiter.seq > lastSeq) continue;
      waiter.resolve();
      this.#waiters.delete(waiter);
    }
    if (this.#writtenSeq >= this.#addedSeq) this.#flushRequested = false;
  }

  async #removeStored(): Promise<void> {
    const { journal, fanOut, logger } = this.#deps;
    const retained = {
      entries: this.#stored.flatMap((group) => group.retained.entries),
      missed: this.#stored.flatMap((group) => group.retained.missed),
    };
    try {
      await journal.remove(
        this.#stored.flatMap(({ seqs }) => seqs),
        retained,
      );
      this.#stored = [];
      this.#failedRemovals = 0;
      fanOut?.retained(retained);
    } catch (error) {
      this.#failedRemovals += 1;
      logger.error({ err: error }, "stored entries could not be removed from the journal; retrying");
    }
  }

  /** Whether all rows are stored or quarantined; false only if the writer stops first. */
  async #insert(batch: Batch): Promise<boolean> {
    const { store, metrics } = this.#deps;
    const { signal } = this.#stopping;
    const { rows, token } = batch;
    let { payload: ndjson, hasResends } = batch;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const end = metrics.insertSeconds.startTimer();
      try {
        await store.insert({ ndjson, rows, token, hasResends }, signal);
        end();
        this.#succeeded(batch.rows);
        // A failed earlier attempt may still reference these bytes.
        if (attempt === 0) freeBytes(ndjson);
        return true;
      } catch (error) {
        if (isPoisonBatch(error)) return this.#isolate(batch, error);
        this.#failed(error);
        // The store may have taken the rows despite the error, and may have forgotten the token by the retry.
        if (attempt === 0) ndjson = markResends(ndjson);
        hasResends = true;
        await sleep(retryDelayMs(attempt), undefined, { signal }).catch(() => undefined);
      }
    }
    return false;
  }

  #succeeded(rows: number): void {
    const { metrics, logger, now } = this.#deps;
    metrics.insertedRows.inc(rows);
    if (this.#failing) logger.info({ failedForMs: now() - this.#failing.sinceMs }, "the span store takes rows again");
    this.#failing = undefined;
  }

  #failed(error: unknown): void {
    const { metrics, logger, now } = this.#deps;
    metrics.insertFailures.inc();
    this.#onFailure();
    if (this.#failing || this.#stopping.signal.aborted) return;
    logger.error({ err: error }, "rows cannot be stored; they stay in the journal");
    this.#failing = { sinceMs: now(), reason: error instanceof Error ? error.name : "unknown" };
  }

  /** Halves a batch with a bad row until that row is alone. */
  async #isolate({ payload, token }: Batch, error: unknown): Promise<boolean> {
    // The store may have taken the part of a large batch before the bad row.
    const lines = splitLines(markResends(payload));
    if (lines.length <= 1) return this.#quarantine(payload, error);
    const middle = lines.length >> 1;
    for (const [index, half] of [lines.slice(0, middle), lines.slice(middle)].entries()) {
      const part = { payload: Buffer.concat(half), rows: half.length, token: `${token}/${index}`, hasResends: true };
      if (!(await this.#insert(part))) return false;
    }
    return true;
  }

  /** False only if the writer stops before the row is quarantined on disk. */
  async #quarantine(row: Buffer, refusal: unknown): Promise<boolean> {
    const { journal, metrics, logger } = this.#deps;
    const { signal } = this.#stopping;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        await journal.quarantine(row, String(refusal));
        metrics.quarantinedRows.inc();
        logger.error({ err: refusal }, "a row was quarantined: the span store refuses its content");
        return true;
      } catch (error) {
        this.#failed(error);
        await sleep(retryDelayMs(attempt), undefined, { signal }).catch(() => undefined);
      }
    }
    return false;
  }
}

type Queued = JournalEntry & { payload: Buffer | undefined; sinceMs: number };
type Group = { entries: Queued[]; rows: number; bytes: number; hasResends: boolean };

type WriterQueue = {
  push(entry: JournalEntry, payload: Buffer | undefined): void;
  /** Removes the oldest entries: at least one, and at most what fits one insert. */
  takeGroup(): Group;
  isGroupFull(): boolean;
  /** Number of entries. */
  size(): number;
  rows(): number;
  /** Returns the age of the oldest entry in milliseconds, or 0 if the queue is empty. */
  waitedMs(): number;
};

/** First in, first out. While the store is down, the journal has all bytes and memory only a bounded part of them. */
export function createWriterQueue(maxRows: number): WriterQueue {
  const entries: Queued[] = [];
  let rows = 0;
  let bytes = 0;
  let bufferedBytes = 0;

  const fits = (group: Group, entry: Queued): boolean =>
    group.entries.length === 0 ||
    (group.rows + entry.rows <= maxRows && group.bytes + entry.bytes <= ingestLimits.writerGroupBytes);

  return {
    push(entry, payload) {
      const buffered =
        payload !== undefined && bufferedBytes + payload.byteLength <= ingestLimits.writerBufferedBytes
          ? payload
          : undefined;
      entries.push({ ...entry, payload: buffered, sinceMs: performance.now() });
      bufferedBytes += buffered?.byteLength ?? 0;
      rows += entry.rows;
      bytes += entry.bytes;
    },
    takeGroup() {
      const group: Group = { entries: [], rows: 0, bytes: 0, hasResends: false };
      for (const entry of entries) {
        if (!fits(group, entry)) break;
        group.entries.push(entry);
        group.rows += entry.rows;
        group.bytes += entry.bytes;
        group.hasResends ||= entry.hasResends;
        bufferedBytes -= entry.payload?.byteLength ?? 0;
      }
      entries.splice(0, group.entries.length);
      rows -= group.rows;
      bytes -= group.bytes;
      return group;
    },
    isGroupFull: () => rows >= maxRows || bytes >= ingestLimits.writerGroupBytes,
    size: () => entries.length,
    rows: () => rows,
    waitedMs: () => (entries[0] === undefined ? 0 : performance.now() - entries[0].sinceMs),
  };
}

/** Exponential, with jitter so that nodes do not retry at the same time. */
function retryDelayMs(attempt: number): number {
  const delay = Math.min(domainLimits.writerRetryMaxMs, ingestLimits.writerRetryMinMs * 2 ** Math.min(attempt, 16));
  return delay * (0.5 + Math.random() / 2);
}

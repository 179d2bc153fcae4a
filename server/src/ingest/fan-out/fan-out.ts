import type { Logger } from "pino";
import type { SpanRow } from "../../domain/span.ts";
import { FairShare, type SharedLimit } from "../../lib/fair-share.ts";
import { parseKeepingDigits } from "../../lib/json.ts";
import { ingestLimits } from "../limits.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import {
  rangeCovering,
  type Retention,
  type RetainedEntry,
  type MissedRange,
} from "../../storage/journal/retained-entries.ts";
import type { FanOutMetrics } from "../../telemetry/ingest-metrics.ts";
import type { ErasedCustomers } from "../accept/erased-customers.ts";
import { createConsumer, type Consumer } from "./consumer.ts";
import type { ReadBack } from "./read-back.ts";
import { narrowRow } from "./narrow-row.ts";
import { organizationOf } from "../writer/row-lines.ts";

/**
 * Dispatches stored spans to subscribers: webhooks, automations, customers.
 *
 * At least once, also after `kill -9`: an entry leaves the journal only when every subscriber that wanted it has
 * acknowledged it. Subscribers never delay the intake, the writer or each other: each has its own queue, waiting entries are bounded
 * in bytes, and beyond that a subscriber reads what it missed back from the span store.
 */
export type SpanSubscriber = {
  /** Stored on disk: it must not change. */
  name: string;
  /** Maximum number of rows per batch. Defaults to `ingestLimits.fanOutBatchRows`. */
  batchRows?: number;
  /** Whether it wants spans of this organization. Called for the rows of each request: fast, and never throws. */
  wants(organizationId: string): boolean;
  /** Called with all rows of a request, before any `concerns` for them. Fast, and never throws. */
  accepted?(rows: readonly SpanRow[]): void;
  /**
   * Whether it wants this span of such an organization. Called where row objects are at hand, so that entries without
   * wanted spans are not retained; other spans of an entry are dispatched with them. Without it, all spans are wanted.
   */
  concerns?(row: SpanRow): boolean;
  /**
   * Whether its queue for this organization is full. Until that changes no entries are retained for it; it then reads the
   * spans back from the span store. Fast, and never throws.
   */
  isFull?(organizationId: string): boolean;
  /** False if it accepts spans reduced by `narrowRow`. */
  readsContent?: boolean;
  /** Whether its spans keep customers that were deleted since. */
  seesErased?: boolean;
  /**
   * Called at the start. `readAgain` dispatches spans that were stored while they were not wanted yet, from the span
   * store; `from` and `to` are times of receipt.
   */
  started?(readAgain: (range: Omit<MissedRange, "subscriber">) => void): void;
  /**
   * Consumes spans: once it resolves, the subscriber is responsible for them, and has them on disk if they must not be
   * lost. Called with one batch at a time; a rejected batch is repeated after other spans, and after a crash a batch
   * may be repeated.
   */
  consume(batch: readonly StoredSpans[], signal: AbortSignal): Promise<void>;
};

/** Spans of one organization, in the order of acceptance. JSON columns contain values, or their JSON text. */
export type StoredSpans = { organizationId: string; rows: readonly SpanRow[] };

export type FanOut = {
  /**
   * What is worth buffering of the rows of an entry until it is stored, to avoid parsing them again. Long-lived rows are
   * expensive for the garbage collector, so content that no subscriber reads is dropped, and of unwanted rows only the
   * fact that nobody wants them is buffered. Undefined if no subscriber wants anything of the organization.
   */
  select(organizationId: string, rows: readonly SpanRow[], bytes: number): SelectedRows | undefined;
  /** Buffers the selected rows of an entry that is committed and not stored yet. */
  buffer(seq: number, selected: SelectedRows | undefined): void;
  /** Determines which stored entries must be retained; called by the writer. */
  retain(entries: ReadonlyArray<{ seq: number; payload: Buffer }>): Retention;
  /** Called once the result of `retain` is on disk. */
  retained(result: Retention): void;
  /**
   * The number of stored entries that each subscriber has not acknowledged, and the arrival of the oldest, by
   * `performance.now`.
   */
  waiting(): Array<{ subscriber: string; entries: number; sinceMs: number | undefined }>;
  /** Bytes of retained entries. */
  limit(): SharedLimit;
  /** Starts with the entries of an earlier process. */
  start(): void;
  /** Resolves once everything retained so far is acknowledged, by these subscribers or by all. For tests. */
  drained(subscribers?: readonly string[]): Promise<void>;
  stop(): Promise<void>;
};

export type FanOutDeps = {
  journal: Pick<Journal, "read" | "retained">;
  subscribers: readonly SpanSubscriber[];
  readBack: ReadBack;
  /** Removes customers that were deleted while their spans were waiting. */
  erasedCustomers?: Pick<ErasedCustomers, "withoutErased">;
  /** Removes rows of deleted traces from entries of an earlier process. */
  leaveOutDeleted?: (payload: Buffer) => Buffer;
  /** Source of edits, which subscribers that read content see in resent spans. */
  spans?: Pick<SpanStore, "readEdits">;
  /** Maximum bytes of entries retained for subscribers; beyond it, they read missed spans back from the span store. */
  maxRetainedBytes: number;
  metrics: FanOutMetrics;
  logger: Logger;
};

export type SelectedRows = StoredSpans & { bytes: number; isNarrow: boolean };

const noRows: readonly SpanRow[] = [];

export function createFanOut(deps: FanOutDeps): FanOut {
  return new JournalFanOut(deps);
}

class JournalFanOut implements FanOut {
  readonly #deps: FanOutDeps;
  readonly #consumers = new Map<string, Consumer>();
  /** Row objects of entries that are stored or will be. */
  readonly #buffered = new Map<number, SelectedRows>();
  #bufferedBytes = 0;
  /** Entries that some subscribers have not acknowledged yet, with the number of these subscribers. */
  readonly #unacknowledged = new Map<number, { subscribers: number; bytes: number; organizationId: string }>();
  readonly #capacity: FairShare;
  #finished: number[] = [];
  #finishing: Promise<void> | undefined;

  constructor(deps: FanOutDeps) {
    this.#deps = deps;
    this.#capacity = new FairShare(deps.maxRetainedBytes);
    for (const subscriber of deps.subscribers) {
      const consumer = createConsumer(subscriber, {
        ...deps,
        load: (seq) => this.#load(seq),
        acknowledge: (seqs) => this.#acknowledge(seqs),
      });
      this.#consumers.set(subscriber.name, consumer);
    }
  }

  select(organizationId: string, rows: readonly SpanRow[], bytes: number): SelectedRows | undefined {
    const mayWant = this.#wanting(organizationId);
    if (mayWant.length === 0) return undefined;
    for (const subscriber of mayWant) subscriber.accepted?.(rows);
    const wanting = this.#wanting(organizationId, rows);
    if (wanting.length === 0) return { organizationId, rows: noRows, bytes: 0, isNarrow: false };
    if (wanting.some(readsContent)) return { organizationId, rows, bytes, isNarrow: false };
    return {
      organizationId,
      rows: rows.map(narrowRow),
      bytes: rows.length * ingestLimits.narrowRowBytes,
      isNarrow: true,
    };
  }

  buffer(seq: number, selected: SelectedRows | undefined): void {
    if (selected === undefined || this.#bufferedBytes + selected.bytes > ingestLimits.fanOutBufferedBytes) return;
    this.#buffered.set(seq, selected);
    this.#bufferedBytes += selected.bytes;
  }

  retain(entries: ReadonlyArray<{ seq: number; payload: Buffer }>): Retention {
    const retained: RetainedEntry[] = [];
    const missed = new Map<string, MissedRange>();
    if (this.#consumers.size === 0) return { entries: retained, missed: [] };
    for (const { seq, payload } of entries) {
      let buffered = this.#buffered.get(seq);
      const organizationId = buffered?.organizationId ?? organizationOf(payload);
      const wanting = organizationId === undefined ? [] : this.#wanting(organizationId, buffered?.rows);
      if (buffered?.isNarrow === true && wanting.some(readsContent)) {
        // It came after the rows were narrowed.
        this.#release(seq);
        buffered = undefined;
      }
      const ready = wanting.filter((each) => each.isFull?.(organizationId ?? "") !== true);
      const hasCapacity = ready.length > 0 && this.#capacity.tryAcquire(organizationId ?? "", payload.byteLength);
      const accepting = hasCapacity ? ready : [];
      if (organizationId !== undefined && accepting.length < wanting.length) {
        const others = wanting.filter((each) => !accepting.includes(each));
        this.#miss(organizationId, others, buffered?.rows ?? spansOf(payload), missed);
      }
      if (accepting.length > 0) {
        retained.push({ seq, bytes: payload.byteLength, subscribers: accepting.map(({ name }) => name) });
        this.#unacknowledged.set(seq, {
          subscribers: accepting.length,
          bytes: payload.byteLength,
          organizationId: organizationId ?? "",
        });
      } else this.#release(seq);
    }
    return { entries: retained, missed: [...missed.values()] };
  }

  retained({ entries }: Retention): void {
    for (const { seq, subscribers } of entries) {
      for (const name of subscribers) this.#consumers.get(name)?.push(seq);
    }
  }

  limit(): SharedLimit {
    return this.#capacity;
  }

  start(): void {
    const { retained } = this.#deps.journal;
    const previous = retained.list();
    const known = (names: readonly string[]) => names.filter((name) => this.#consumers.has(name));
    const entries = previous.map((entry) => ({ ...entry, subscribers: known(entry.subscribers) }));
    for (const { seq, bytes, subscribers } of entries) {
      if (subscribers.length === 0) continue;
      // Their organization is only known once they are read.
      this.#capacity.acquire("", bytes);
      this.#unacknowledged.set(seq, { subscribers: subscribers.length, bytes, organizationId: "" });
    }
    this.retained({ entries: entries.filter(({ subscribers }) => subscribers.length > 0), missed: [] });
    for (const range of retained.missed()) this.#consumers.get(range.subscriber)?.miss(range);
    // Entries of subscribers that this version no longer has.
    this.#finish(entries.filter(({ subscribers }) => subscribers.length === 0).map(({ seq }) => seq));
    for (const consumer of this.#consumers.values()) consumer.start();
    for (const subscriber of this.#deps.subscribers)
      subscriber.started?.((range) =>
        this.#consumers.get(subscriber.name)?.miss({ subscriber: subscriber.name, ...range }),
      );
  }

  waiting(): ReturnType<FanOut["waiting"]> {
    return [...this.#consumers].map(([subscriber, consumer]) => ({ subscriber, ...consumer.waiting() }));
  }

  async drained(subscribers?: readonly string[]): Promise<void> {
    const consumers = [...this.#consumers].filter(([name]) => subscribers?.includes(name) ?? true);
    await Promise.all(consumers.map(([, consumer]) => consumer.drained()));
    await this.#finishing;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#consumers.values()].map((consumer) => consumer.stop()));
    await this.#finishing;
  }

  /** @param rows rows of which at least one must be wanted; without them, whether any row of the organization may be */
  #wanting(organizationId: string, rows?: readonly SpanRow[]): SpanSubscriber[] {
    const isWanted = (subscriber: SpanSubscriber): boolean =>
      subscriber.wants(organizationId) && (rows?.some((row) => subscriber.concerns?.(row) ?? true) ?? true);
    return this.#deps.subscribers.filter(isWanted);
  }

  #miss(
    organizationId: string,
    subscribers: readonly SpanSubscriber[],
    rows: readonly SpanRow[],
    into: Map<string, MissedRange>,
  ): void {
    const times = rows.flatMap(({ received_at: at }) => (at === undefined ? [] : [{ from: at, to: at }]));
    const [first, ...others] = times;
    if (first === undefined) return;
    const range = others.reduce(rangeCovering, first);
    this.#deps.metrics.missed.inc(rows.length * subscribers.length);
    for (const { name: subscriber } of subscribers) {
      const unread = this.#consumers.get(subscriber)?.miss({ subscriber, organizationId, ...range });
      if (unread) into.set(`${subscriber}\n${organizationId}`, unread);
    }
  }

  #load(seq: number): StoredSpans | undefined {
    const buffered = this.#buffered.get(seq);
    if (buffered !== undefined) return buffered;
    const payload = this.#deps.journal.read(seq);
    const rows = payload && spansOf(this.#deps.leaveOutDeleted?.(payload) ?? payload);
    const organizationId = rows?.[0]?.organization_id;
    return rows === undefined || organizationId === undefined ? undefined : { organizationId, rows };
  }

  #acknowledge(seqs: readonly number[]): void {
    const finished = seqs.filter((seq) => {
      const entry = this.#unacknowledged.get(seq);
      if (entry === undefined) return false;
      entry.subscribers -= 1;
      return entry.subscribers === 0;
    });
    this.#finish(finished);
  }

  /** Removes finished entries from the journal, in as few transactions as possible. */
  #finish(seqs: readonly number[]): void {
    for (const seq of seqs) {
      const entry = this.#unacknowledged.get(seq);
      if (entry !== undefined) this.#capacity.release(entry.organizationId, entry.bytes);
      this.#unacknowledged.delete(seq);
      this.#release(seq);
      this.#finished.push(seq);
    }
    if (this.#finished.length > 0) this.#finishing ??= this.#evict();
  }

  async #evict(): Promise<void> {
    while (this.#finished.length > 0) {
      const seqs = this.#finished.splice(0);
      try {
        await this.#deps.journal.retained.acknowledge(seqs);
      } catch (error) {
        // They are dispatched again at the next start, which subscribers expect.
        this.#deps.logger.error({ err: error }, "dispatched entries could not be removed from the journal");
      }
    }
    this.#finishing = undefined;
  }

  #release(seq: number): void {
    this.#bufferedBytes -= this.#buffered.get(seq)?.bytes ?? 0;
    this.#buffered.delete(seq);
  }
}

const readsContent = (subscriber: SpanSubscriber): boolean => subscriber.readsContent !== false;

/** The spans of an entry, without tombstones. */
function spansOf(payload: Buffer): SpanRow[] {
  const lines = payload.toString("utf8").split("\n");
  return lines.flatMap((line) => {
    if (line === "") return [];
    const row = asRow(parseKeepingDigits(line));
    return row.is_deleted === 1 ? [] : [row];
  });
}

/** The journal contains the rows that ingest/accept wrote. */
function asRow(value: unknown): SpanRow {
  return value as SpanRow;
}

import type { Logger } from "pino";
import type { SpanRow } from "../../domain/span.ts";
import { FairShare } from "../../lib/fair-share.ts";
import { parseKeepingDigits } from "../../lib/json.ts";
import { ingestLimits } from "../limits.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { stretchTogether, type Keep, type KeptEntry, type MissedStretch } from "../../storage/journal/kept-entries.ts";
import type { FanOutMetrics } from "../../telemetry/fan-out-metrics.ts";
import type { ErasedCustomers } from "../accept/erased-customers.ts";
import { createFanOutLane, type FanOutLane } from "./fan-out-lane.ts";
import type { ReadBack } from "./read-back.ts";
import { narrowRow } from "./narrow-row.ts";
import { organizationOf } from "../writer/row-lines.ts";

/**
 * Hands spans on to whoever waits for them once they are stored: webhooks, automations, customers.
 *
 * At least once, also over `kill -9`: an entry leaves the journal only when every subscriber that wanted it has taken it.
 * Subscribers never hold up the intake, the writer or each other: each has a lane of its own, entries that wait are
 * bounded in bytes, and beyond that a subscriber reads what it missed back from the span store.
 */
export type SpanSubscriber = {
  /** Written to disk: it must not change. */
  name: string;
  /** How many rows it takes at a time at most, where that is not `ingestLimits.fanOutBatchRows`. */
  batchRows?: number;
  /** Whether spans of this organisation matter to it. Asked for each request's rows: quick, and never throws. */
  wants(organizationId: string): boolean;
  /**
   * Whether a span of such an organisation does. Asked where rows are at hand, so that requests without any are not kept;
   * spans of others come along all the same. Without it, all do.
   */
  concerns?(row: SpanRow): boolean;
  /**
   * Whether it holds as much of this organisation as it may. Until that changes its spans are not kept for it, and it reads
   * them back from the span store then. Quick, and never throws.
   */
  isFull?(organizationId: string): boolean;
  /** False: it may be given spans as `narrowRow` leaves them. */
  readsContent?: boolean;
  /** Whether it is handed spans with the customers that they named before those were deleted. */
  seesErased?: boolean;
  /**
   * Takes spans over: once it resolves they are the subscriber's own, on disk if they must not be lost. Called one batch at
   * a time; a batch that is refused comes again, after other spans, and after a crash a batch may come twice.
   */
  take(batch: readonly StoredSpans[], signal: AbortSignal): Promise<void>;
};

/** Spans of one organisation, in the order of acceptance. JSON columns hold values, or the JSON text of them. */
export type StoredSpans = { organizationId: string; rows: readonly SpanRow[] };

export type FanOut = {
  /** Whether anybody wants this row once it is stored. */
  concerns(row: SpanRow): boolean;
  /**
   * Remembers the rows of an entry that is not stored yet: it spares parsing them again. Rows that live until they are stored
   * cost the garbage collector much, so it remembers no content that nobody reads, and of rows that concern nobody only that.
   */
  hold(seq: number, organizationId: string, rows: readonly SpanRow[], bytes: number): void;
  /** What must be kept of stored entries; for the writer. */
  keep(entries: ReadonlyArray<{ seq: number; payload: Buffer }>): Keep;
  /** Called once that is on disk. */
  kept(keep: Keep): void;
  /** How many stored entries each subscriber has not taken, and since when the first of them, by `performance.now`. */
  waiting(): Array<{ subscriber: string; entries: number; sinceMs: number | undefined }>;
  /** Begins with what an earlier process left. */
  start(): void;
  /** Resolves once everything kept so far has been taken, by these subscribers or by all. For tests. */
  drained(subscribers?: readonly string[]): Promise<void>;
  stop(): Promise<void>;
};

export type FanOutDeps = {
  journal: Pick<Journal, "read" | "kept">;
  subscribers: readonly SpanSubscriber[];
  readBack: ReadBack;
  /** What waited while its customer was deleted is handed on without it. */
  erasedCustomers?: Pick<ErasedCustomers, "withoutErased">;
  /** Leaves out of an entry of an earlier process what was deleted since. */
  leaveOutDeleted?: (payload: Buffer) => Buffer;
  /** Who reads content sees what was changed of spans that are sent again. */
  spans?: Pick<SpanStore, "readEdits">;
  /** Bytes of entries kept for subscribers; of more, they read what they missed back from the span store. */
  maxKeptBytes: number;
  metrics: FanOutMetrics;
  logger: Logger;
};

type HeldEntry = StoredSpans & { bytes: number; isNarrow: boolean };

const nothing: readonly SpanRow[] = [];

export function createFanOut(deps: FanOutDeps): FanOut {
  return new JournalFanOut(deps);
}

class JournalFanOut implements FanOut {
  readonly #deps: FanOutDeps;
  readonly #lanes = new Map<string, FanOutLane>();
  /** Rows at hand, of entries that are stored or will be. */
  readonly #held = new Map<number, HeldEntry>();
  #heldBytes = 0;
  /** How many subscribers have yet to take an entry. */
  readonly #open = new Map<number, { subscribers: number; bytes: number; organizationId: string }>();
  readonly #room: FairShare;
  #finished: number[] = [];
  #finishing: Promise<void> | undefined;

  constructor(deps: FanOutDeps) {
    this.#deps = deps;
    this.#room = new FairShare(deps.maxKeptBytes);
    for (const subscriber of deps.subscribers) {
      const lane = createFanOutLane(subscriber, {
        ...deps,
        load: (seq) => this.#load(seq),
        done: (seqs) => this.#done(seqs),
      });
      this.#lanes.set(subscriber.name, lane);
    }
  }

  concerns(row: SpanRow): boolean {
    return this.#wanting(row.organization_id, [row]).length > 0;
  }

  hold(seq: number, organizationId: string, rows: readonly SpanRow[], bytes: number): void {
    if (this.#wanting(organizationId).length === 0) return;
    const held = this.#heldEntry(organizationId, rows, bytes);
    if (this.#heldBytes + held.bytes > ingestLimits.fanOutHeldBytes) return;
    this.#held.set(seq, held);
    this.#heldBytes += held.bytes;
  }

  keep(entries: ReadonlyArray<{ seq: number; payload: Buffer }>): Keep {
    const kept: KeptEntry[] = [];
    const missed = new Map<string, MissedStretch>();
    if (this.#lanes.size === 0) return { entries: kept, missed: [] };
    for (const { seq, payload } of entries) {
      let held = this.#held.get(seq);
      const organizationId = held?.organizationId ?? organizationOf(payload);
      const wanting = organizationId === undefined ? [] : this.#wanting(organizationId, held?.rows);
      if (held?.isNarrow === true && wanting.some(readsContent)) {
        // It came after the rows were held.
        this.#release(seq);
        held = undefined;
      }
      const ready = wanting.filter((each) => each.isFull?.(organizationId ?? "") !== true);
      const isRoom = ready.length > 0 && this.#room.take(organizationId ?? "", payload.byteLength);
      const takers = isRoom ? ready : [];
      if (organizationId !== undefined && takers.length < wanting.length) {
        const others = wanting.filter((each) => !takers.includes(each));
        this.#miss(organizationId, others, held?.rows ?? spansOf(payload), missed);
      }
      if (takers.length > 0) {
        kept.push({ seq, bytes: payload.byteLength, subscribers: takers.map(({ name }) => name) });
        this.#open.set(seq, {
          subscribers: takers.length,
          bytes: payload.byteLength,
          organizationId: organizationId ?? "",
        });
      } else this.#release(seq);
    }
    return { entries: kept, missed: [...missed.values()] };
  }

  kept({ entries }: Keep): void {
    for (const { seq, subscribers } of entries) {
      for (const name of subscribers) this.#lanes.get(name)?.push(seq);
    }
  }

  start(): void {
    const { kept } = this.#deps.journal;
    const left = kept.list();
    const known = (names: readonly string[]) => names.filter((name) => this.#lanes.has(name));
    const entries = left.map((entry) => ({ ...entry, subscribers: known(entry.subscribers) }));
    for (const { seq, bytes, subscribers } of entries) {
      if (subscribers.length === 0) continue;
      // Whose they are shows when they are read.
      this.#room.add("", bytes);
      this.#open.set(seq, { subscribers: subscribers.length, bytes, organizationId: "" });
    }
    this.kept({ entries: entries.filter(({ subscribers }) => subscribers.length > 0), missed: [] });
    for (const stretch of kept.missed()) this.#lanes.get(stretch.subscriber)?.miss(stretch);
    // A subscriber that this version no longer has.
    this.#finish(entries.filter(({ subscribers }) => subscribers.length === 0).map(({ seq }) => seq));
    for (const lane of this.#lanes.values()) lane.start();
  }

  waiting(): ReturnType<FanOut["waiting"]> {
    return [...this.#lanes].map(([subscriber, lane]) => ({ subscriber, ...lane.waiting() }));
  }

  async drained(subscribers?: readonly string[]): Promise<void> {
    const lanes = [...this.#lanes].filter(([name]) => subscribers?.includes(name) ?? true);
    await Promise.all(lanes.map(([, lane]) => lane.drained()));
    await this.#finishing;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.stop()));
    await this.#finishing;
  }

  #heldEntry(organizationId: string, rows: readonly SpanRow[], bytes: number): HeldEntry {
    const wanting = this.#wanting(organizationId, rows);
    if (wanting.length === 0) return { organizationId, rows: nothing, bytes: 0, isNarrow: false };
    if (wanting.some(readsContent)) return { organizationId, rows, bytes, isNarrow: false };
    return {
      organizationId,
      rows: rows.map(narrowRow),
      bytes: rows.length * ingestLimits.narrowRowBytes,
      isNarrow: true,
    };
  }

  /** @param rows what is wanted of them; without them, what may be wanted of any */
  #wanting(organizationId: string, rows?: readonly SpanRow[]): SpanSubscriber[] {
    const isWanted = (subscriber: SpanSubscriber): boolean =>
      subscriber.wants(organizationId) && (rows?.some((row) => subscriber.concerns?.(row) ?? true) ?? true);
    return this.#deps.subscribers.filter(isWanted);
  }

  #miss(
    organizationId: string,
    subscribers: readonly SpanSubscriber[],
    rows: readonly SpanRow[],
    into: Map<string, MissedStretch>,
  ): void {
    const times = rows.flatMap(({ received_at: at }) => (at === undefined ? [] : [{ from: at, to: at }]));
    const [first, ...others] = times;
    if (first === undefined) return;
    const stretch = others.reduce(stretchTogether, first);
    this.#deps.metrics.missed.inc(rows.length * subscribers.length);
    for (const { name: subscriber } of subscribers) {
      const whole = this.#lanes.get(subscriber)?.miss({ subscriber, organizationId, ...stretch });
      if (whole) into.set(`${subscriber}\n${organizationId}`, whole);
    }
  }

  #load(seq: number): StoredSpans | undefined {
    const held = this.#held.get(seq);
    if (held !== undefined) return held;
    const payload = this.#deps.journal.read(seq);
    const rows = payload && spansOf(this.#deps.leaveOutDeleted?.(payload) ?? payload);
    const organizationId = rows?.[0]?.organization_id;
    return rows === undefined || organizationId === undefined ? undefined : { organizationId, rows };
  }

  #done(seqs: readonly number[]): void {
    const finished = seqs.filter((seq) => {
      const entry = this.#open.get(seq);
      if (entry === undefined) return false;
      entry.subscribers -= 1;
      return entry.subscribers === 0;
    });
    this.#finish(finished);
  }

  /** Takes finished entries out of the journal, in as few transactions as their commits allow. */
  #finish(seqs: readonly number[]): void {
    for (const seq of seqs) {
      const open = this.#open.get(seq);
      if (open !== undefined) this.#room.giveBack(open.organizationId, open.bytes);
      this.#open.delete(seq);
      this.#release(seq);
      this.#finished.push(seq);
    }
    if (this.#finished.length > 0) this.#finishing ??= this.#forget();
  }

  async #forget(): Promise<void> {
    while (this.#finished.length > 0) {
      const seqs = this.#finished.splice(0);
      try {
        await this.#deps.journal.kept.done(seqs);
      } catch (error) {
        // They are handed on once more at the next start, which subscribers expect.
        this.#deps.logger.error({ err: error }, "entries that were handed on could not be removed from the journal");
      }
    }
    this.#finishing = undefined;
  }

  #release(seq: number): void {
    this.#heldBytes -= this.#held.get(seq)?.bytes ?? 0;
    this.#held.delete(seq);
  }
}

const readsContent = (subscriber: SpanSubscriber): boolean => subscriber.readsContent !== false;

/** The spans of an entry; rows that only take others out of the table are none. */
function spansOf(payload: Buffer): SpanRow[] {
  const lines = payload.toString("utf8").split("\n");
  return lines.flatMap((line) => {
    if (line === "") return [];
    const row = asRow(parseKeepingDigits(line));
    return row.is_deleted === 1 ? [] : [row];
  });
}

/** The journal holds what ingest/accept.ts wrote: rows. */
function asRow(value: unknown): SpanRow {
  return value as SpanRow;
}

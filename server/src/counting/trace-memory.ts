import { BloomFilter } from "../lib/bloom-filter.ts";
import type { StoredFact, StoredUsageCount } from "../storage/spans/usage-facts.ts";
import type { UsageCount } from "../domain/usage-fact.ts";

/** A trace is identified within its organization and environment. A span without a trace is a trace of its own. */
export type TraceName = { organizationId: string; environment: string; trace_unique_id: string; unique_id: string };

export const traceKey = ({ organizationId, environment, trace_unique_id: trace, unique_id: id }: TraceName): string =>
  `${organizationId}\n${environment}\n${trace === "" ? `\n${id}` : trace}`;

type Reporter = Pick<UsageCount, "customer_identifier" | "thread_identifier">;

const none: ReadonlyMap<string, never> = new Map<string, never>();

/** What is known of one trace: all of its spans, and their stored counts. */
export class CountedTrace {
  readonly name: TraceName;
  readonly facts = new Map<string, StoredFact>();
  // Most traces need none of these, and many traces are remembered.
  #stored: Map<string, StoredUsageCount> | undefined;
  #calls: Set<string> | undefined;
  #namedBy: TraceName[] | undefined;
  #reporters: Map<string, Reporter> | undefined;

  constructor(name: TraceName) {
    this.name = name;
  }

  /** Stored counts of spans whose count differs from their own values, or once did: by time and id. */
  get stored(): ReadonlyMap<string, StoredUsageCount> {
    return this.#stored ?? none;
  }

  setStored(key: string, count: StoredUsageCount): void {
    (this.#stored ??= new Map()).set(key, count);
  }

  deleteStored(key: string): void {
    this.#stored?.delete(key);
  }

  /** Gateway spans in other traces that spans of this trace name. */
  get calls(): Pick<ReadonlySet<string>, "has"> {
    return this.#calls ?? none;
  }

  addCall(gatewayLogId: string): void {
    (this.#calls ??= new Set()).add(gatewayLogId);
  }

  /** By id of its own gateway spans: the customer and thread of the spans in other traces that name them. */
  get reporters(): ReadonlyMap<string, Reporter> {
    return this.#reporters ?? none;
  }

  setReporter(uniqueId: string, reporter: Reporter): void {
    (this.#reporters ??= new Map()).set(uniqueId, reporter);
  }

  foundNamedBy(trace: TraceName): void {
    (this.#namedBy ??= []).push(trace);
  }

  /** Traces in the store whose spans name gateway spans of this one. Each is returned once. */
  takeNamedBy(): readonly TraceName[] {
    const taken = this.#namedBy ?? [];
    this.#namedBy = undefined;
    return taken;
  }

  /** Of two versions of a span, the higher one counts. */
  add(stored: StoredFact): void {
    const { unique_id } = stored;
    const known = this.facts.get(unique_id);
    if (known === undefined || known.version <= stored.version) this.facts.set(unique_id, stored);
  }
}

/** The most recently counted traces, up to a maximum number of spans. */
export class TraceMemory {
  readonly #traces = new Map<string, { trace: CountedTrace; spans: number }>();
  readonly #maxSpans: number;
  readonly #evicted = new BloomFilter();
  #spans = 0;

  constructor(maxSpans: number) {
    this.#maxSpans = maxSpans;
  }

  get spans(): number {
    return this.#spans;
  }

  get(key: string): CountedTrace | undefined {
    return this.#traces.get(key)?.trace;
  }

  /** Stores the trace as the most recent, and drops the oldest ones to make room. */
  keep(key: string, trace: CountedTrace): void {
    this.evict(key);
    const spans = trace.facts.size;
    this.#traces.set(key, { trace, spans });
    this.#spans += spans;
    for (const oldest of this.#traces.keys()) {
      if (this.#spans <= this.#maxSpans) return;
      this.#evicted.add(oldest);
      this.evict(oldest);
    }
  }

  evict(key: string): void {
    this.#spans -= this.#traces.get(key)?.spans ?? 0;
    this.#traces.delete(key);
  }

  /** Whether the trace may have been in memory and was dropped. */
  mayHaveEvicted(key: string): boolean {
    return this.#evicted.has(key);
  }

  clear(): void {
    for (const key of this.#traces.keys()) this.#evicted.add(key);
    this.#traces.clear();
    this.#spans = 0;
  }
}

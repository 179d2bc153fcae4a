import type { CustomerKey } from "../domain/customer.ts";
import { gatewayLogMethod, type SpanRow } from "../domain/span.ts";
import { isReceivedBefore, type ErasedCustomers } from "../ingest/accept/erased-customers.ts";
import type { SpanSubscriber, StoredSpans } from "../ingest/fan-out/fan-out.ts";
import { randomToken } from "../lib/random-token.ts";
import { parseTimeNs } from "../lib/time.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { countingLimits } from "./limits.ts";
import { domainLimits } from "../domain/limits.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { CountedName, StoredFact } from "../storage/spans/usage-facts.ts";
import {
  countTrace,
  extentOf,
  rowOfChange,
  applyChanges,
  isElsewhere,
  setReporters,
  factOfRow,
  type Change,
  type ExtentRow,
  type IsErased,
} from "./count-rows.ts";
import { standingVersions } from "./standing-versions.ts";
import { CountedTrace, TraceMemory, traceKey, type TraceName } from "./trace-memory.ts";

/**
 * Computes what stored spans count for, and stores it beside them: `domain/count-usage.ts` decides, from all spans of a
 * trace. Counting is idempotent and independent of the order in which spans arrive. If nodes stored a span with several
 * end times, it keeps one version (docs/adr/0047-duplicate-spans-are-resolved-in-the-span-store.md).
 */
export type SpanCounter = SpanSubscriber & {
  /** Counts traces again from the store. */
  recount(organizationId: string, traces: readonly CountedName[]): Promise<void>;
  /**
   * Other traces that are linked to these by calls: either trace names a call of the other. Changes to these affect
   * them.
   */
  linkedTo(organizationId: string, traces: readonly CountedName[]): Promise<CountedName[]>;
  /** Recounts everything that counted for a customer whom spans no longer name. */
  unname(key: CustomerKey): Promise<void>;
};

export type SpanCounterDeps = {
  store: Pick<SpanStore, "insert" | "readUsageFacts" | "listCountedOf">;
  memory: {
    /** Whether this node is the only writer of the store, so that its memory of a trace is complete. */
    isComplete: boolean;
    /** Whether spans were accepted before this process began. */
    hasHistory: boolean;
    /** Whether spans of the trace were accepted before these. */
    mayHaveEarlier: (trace: TraceName, spans: readonly StoredFact[]) => boolean;
  };
  erasedCustomers: Pick<ErasedCustomers, "erasedAtNs">;
  /** Milliseconds since the epoch. */
  now: () => number;
};

export function createSpanCounter(deps: SpanCounterDeps): SpanCounter {
  return new Counter(deps);
}

/** The traces that one round counts, by their key. */
type Round = Map<string, CountedTrace>;

class Counter implements SpanCounter {
  readonly name = "span counts";
  readonly batchRows = countingLimits.countedBatchRows;
  readonly readsContent = false;
  readonly #deps: SpanCounterDeps;
  readonly #memory = new TraceMemory(countingLimits.countedSpansRetained);
  /** Gateway spans that were named before they were stored: by organization and id, the trace that names them. */
  readonly #wanted: ExpiringLru<string, TraceName>;
  #lastVersion = 0n;
  /** One round at a time: each begins with what the previous one stored. */
  #turn: Promise<void> = Promise.resolve();

  constructor(deps: SpanCounterDeps) {
    this.#deps = deps;
    const { wantedGatewayCalls: maxEntries, wantedGatewayCallMs: ttlMs } = countingLimits;
    this.#wanted = new ExpiringLru({ maxEntries, ttlMs, nowMs: deps.now });
  }

  wants(): boolean {
    return true;
  }

  /**
   * Notes the calls that these spans name. Rows are stored in the order of acceptance, so a call is either in the store
   * when the span that names it is counted, or passes `concerns` later and is known to be wanted.
   */
  accepted(rows: readonly SpanRow[]): void {
    for (const row of rows) {
      const { organization_id: organizationId, gateway_log_id: named = "" } = row;
      if (named !== row.unique_id && uuid.test(named))
        this.#wanted.set(`${organizationId}\n${named}`, nameOf(organizationId, factOfRow(row)));
    }
  }

  concerns(row: SpanRow): boolean {
    return (
      (row.trace_unique_id ?? "") !== "" ||
      (row.gateway_log_id ?? "") !== "" ||
      // Another node may have looked for the call before it was stored.
      (!this.#deps.memory.isComplete && row.log_method === gatewayLogMethod) ||
      this.#wanted.get(`${row.organization_id}\n${row.unique_id}`) !== undefined
    );
  }

  async consume(batch: readonly StoredSpans[], signal: AbortSignal): Promise<void> {
    const byOrganization = Map.groupBy(batch, ({ organizationId }) => organizationId);
    for (const [organizationId, spans] of byOrganization) {
      const rows = spans.flatMap(({ rows }) => rows).filter((row) => this.concerns(row));
      await this.#inTurn(() => this.#countRows(organizationId, rows, signal));
    }
  }

  async recount(organizationId: string, traces: readonly CountedName[]): Promise<void> {
    const names = traces.map((trace) => ({ unique_id: "", ...trace, organizationId }));
    await this.#inTurn(async () => {
      for (const name of names) this.#memory.evict(traceKey(name));
      await this.#countRound(organizationId, await this.#load(organizationId, names));
    });
  }

  async linkedTo(organizationId: string, traces: readonly CountedName[]): Promise<CountedName[]> {
    const names = traces.map((trace) => ({ unique_id: "", ...trace, organizationId }));
    const own = new Set(names.map(traceKey));
    const round = await this.#load(organizationId, names);
    await this.#joinWanted(organizationId, round);
    await this.#findCalls(organizationId, round);
    return [...round.values()].map(({ name }) => name).filter((name) => !own.has(traceKey(name)));
  }

  async unname(key: CustomerKey): Promise<void> {
    // Remembered traces name the customer too, including those without stored counts.
    await this.#inTurn(async () => this.#memory.clear());
    let before = "";
    for (;;) {
      const names = await this.#deps.store.listCountedOf(key, countingLimits.countedTracesRead);
      const found = JSON.stringify(names);
      if (names.length === 0 || found === before) return;
      before = found;
      await this.recount(key.organization_id, names);
    }
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    await turn;
  }

  async #countRows(organizationId: string, rows: readonly SpanRow[], signal?: AbortSignal): Promise<void> {
    const added = new Map<string, { name: TraceName; facts: StoredFact[] }>();
    for (const row of rows) {
      const stored = factOfRow(row);
      const name = nameOf(organizationId, stored);
      const key = traceKey(name);
      const found = added.get(key);
      if (found === undefined) added.set(key, { name, facts: [stored] });
      else found.facts.push(stored);
    }
    const round: Round = new Map();
    const unknown: TraceName[] = [];
    for (const [key, { name, facts }] of added) {
      const trace = this.#remembered(key, name, facts);
      if (trace === undefined) unknown.push(name);
      else {
        for (const stored of facts) trace.add(stored);
        round.set(key, trace);
      }
    }
    for (const [key, trace] of await this.#load(organizationId, unknown, signal)) {
      // The store may lag: rows that were just consumed are added in any case.
      for (const stored of added.get(key)?.facts ?? []) trace.add(stored);
      round.set(key, trace);
    }
    await this.#countRound(organizationId, round, signal);
  }

  /** Undefined if the trace has to be read from the store. */
  #remembered(key: string, name: TraceName, added: readonly StoredFact[]): CountedTrace | undefined {
    const { isComplete, hasHistory, mayHaveEarlier } = this.#deps.memory;
    if (!isComplete) return undefined;
    const known = this.#memory.get(key);
    if (known !== undefined) return known;
    const isUnknown = (hasHistory || this.#memory.mayHaveEvicted(key)) && mayHaveEarlier(name, added);
    return isUnknown ? undefined : new CountedTrace(name);
  }

  async #load(organizationId: string, names: readonly TraceName[], signal?: AbortSignal): Promise<Round> {
    const round: Round = new Map(names.map((name) => [traceKey(name), new CountedTrace(name)]));
    const read = async (by: "trace_unique_id" | "unique_id", ids: readonly string[]) => {
      for (let from = 0; from < ids.length; from += countingLimits.countedTracesRead) {
        const part = ids.slice(from, from + countingLimits.countedTracesRead);
        const { facts, deleted, counts, readAtNs } = await this.#deps.store.readUsageFacts(
          { organizationId, by, ids: part },
          signal,
        );
        this.#sawClock(readAtNs);
        const recently = deleted.filter(({ deleted_at }) => isWithinDay(deleted_at, readAtNs));
        const { standing, tombstones } = standingVersions(organizationId, facts, recently);
        await this.#insert("spans", tombstones, signal);
        for (const stored of standing) round.get(traceKey(nameOf(organizationId, stored)))?.add(stored);
        for (const stored of counts) {
          const { environment, trace_unique_id, unique_id } = stored;
          const key = traceKey({ organizationId, environment, trace_unique_id, unique_id });
          round.get(key)?.setStored(`${stored.timestamp} ${unique_id}`, stored);
        }
      }
    };
    await read("trace_unique_id", [...new Set(names.flatMap((name) => name.trace_unique_id || []))]);
    await read(
      "unique_id",
      names.flatMap((name) => (name.trace_unique_id === "" ? [name.unique_id] : [])),
    );
    await this.#findReporters(organizationId, round, signal);
    return round;
  }

  /** Finds the spans that name the gateway spans which were read. */
  async #findReporters(organizationId: string, round: Round, signal?: AbortSignal): Promise<void> {
    const traceOf = new Map<string, CountedTrace>();
    for (const trace of round.values()) {
      for (const fact of trace.facts.values()) if (fact.is_gateway) traceOf.set(fact.unique_id, trace);
    }
    if (traceOf.size === 0) return;
    const query = { organizationId, by: "gateway_log_id", ids: [...traceOf.keys()] } as const;
    const { facts } = await this.#deps.store.readUsageFacts(query, signal);
    for (const fact of facts) {
      const { environment, trace_unique_id } = fact;
      const trace = traceOf.get(fact.gateway_log_id);
      if (trace === undefined || (trace_unique_id !== "" && trace_unique_id === trace.name.trace_unique_id)) continue;
      if (environment !== trace.name.environment) continue;
      trace.setReporter(fact.gateway_log_id, fact);
      trace.foundNamedBy(nameOf(organizationId, fact));
    }
  }

  /**
   * Counts the traces of a round, and then the traces of gateway calls that they name, if that changes their counts.
   */
  async #countRound(organizationId: string, round: Round, signal?: AbortSignal): Promise<void> {
    await this.#joinWanted(organizationId, round, signal);
    const named = await this.#findCalls(organizationId, round, signal);
    const changed = new Map<CountedTrace, Change[]>();
    const isErased: IsErased = (customer_identifier, span) => {
      const environment = span.environment as CustomerKey["environment"];
      const of = { organization_id: organizationId, environment, customer_identifier };
      return isReceivedBefore(span, this.#deps.erasedCustomers.erasedAtNs(of));
    };
    let open = [...round.values()];
    for (let pass = 0; open.length > 0 && pass < countingLimits.countedPasses; pass += 1) {
      const notified = new Set<CountedTrace>();
      for (const trace of open) {
        const { changes, counts } = countTrace(trace, isErased);
        changed.set(trace, changes);
        for (const called of setReporters(trace, counts, named)) notified.add(called);
      }
      open = [...notified];
    }
    await this.#store(organizationId, changed, signal);
    for (const trace of changed.keys()) {
      const key = traceKey(trace.name);
      if (this.#deps.memory.isComplete) this.#memory.keep(key, trace);
    }
  }

  /** If spans of the gateway were waited for, adds the traces that name them to the round. */
  async #joinWanted(organizationId: string, round: Round, signal?: AbortSignal): Promise<void> {
    const waiting: TraceName[] = [];
    for (const trace of round.values()) {
      for (const fact of trace.facts.values()) {
        const key = `${organizationId}\n${fact.unique_id}`;
        const name = fact.is_gateway ? this.#wanted.get(key) : undefined;
        if (name === undefined) continue;
        this.#wanted.delete(key);
        if (!round.has(traceKey(name))) waiting.push(name);
      }
      // These may have been counted before the call that they name was stored.
      for (const name of trace.takeNamedBy()) if (!round.has(traceKey(name))) waiting.push(name);
    }
    await this.#bringIn(organizationId, waiting, round, signal);
  }

  /** Finds the traces of gateway spans that spans of the round name. */
  async #findCalls(organizationId: string, round: Round, signal?: AbortSignal): Promise<Map<string, CountedTrace>> {
    const called = new Map<string, CountedTrace>();
    const missing = new Map<string, CountedTrace>();
    const own = new Map<string, CountedTrace>();
    for (const trace of round.values()) {
      for (const fact of trace.facts.values()) if (fact.is_gateway) own.set(fact.unique_id, trace);
    }
    for (const trace of round.values()) {
      for (const fact of trace.facts.values()) {
        const id = fact.gateway_log_id;
        if (id === "" || id === fact.unique_id || trace.facts.has(id)) continue;
        const known = own.get(id);
        if (known !== undefined) called.set(id, known);
        else if (uuid.test(id)) missing.set(id, trace);
      }
    }
    const query = { organizationId, by: "unique_id", ids: [...missing.keys()] } as const;
    const { facts } = missing.size === 0 ? { facts: [] } : await this.#deps.store.readUsageFacts(query, signal);
    const found = facts.filter((fact) => fact.is_gateway);
    const names = new Map(found.map((stored) => [stored.unique_id, nameOf(organizationId, stored)]));
    await this.#bringIn(organizationId, [...names.values()], round, signal);
    for (const [id, trace] of missing) {
      const name = names.get(id);
      const there = name && round.get(traceKey(name));
      if (there === undefined) this.#wanted.set(`${organizationId}\n${id}`, trace.name);
      else {
        called.set(id, there);
        this.#wanted.delete(`${organizationId}\n${id}`);
      }
    }
    for (const trace of round.values()) {
      for (const fact of trace.facts.values()) {
        const there = called.get(fact.gateway_log_id);
        if (there !== undefined && isElsewhere(there, trace)) trace.addCall(fact.gateway_log_id);
      }
    }
    return called;
  }

  async #bringIn(
    organizationId: string,
    names: readonly TraceName[],
    round: Round,
    signal?: AbortSignal,
  ): Promise<void> {
    const unknown = new Map<string, TraceName>();
    for (const name of names) {
      const key = traceKey(name);
      const known = this.#deps.memory.isComplete ? this.#memory.get(key) : undefined;
      if (known !== undefined && !round.has(key)) round.set(key, known);
      else if (!round.has(key)) unknown.set(key, name);
    }
    for (const [key, trace] of await this.#load(organizationId, [...unknown.values()], signal)) round.set(key, trace);
  }

  async #store(
    organizationId: string,
    changed: ReadonlyMap<CountedTrace, readonly Change[]>,
    signal?: AbortSignal,
  ): Promise<void> {
    const version = this.#nextVersion();
    const rows = [...changed.values()].flatMap((changes) =>
      changes.map((change) => rowOfChange(organizationId, change, version)),
    );
    const extents: ExtentRow[] = [...changed.keys()].flatMap((trace) => extentOf(trace) ?? []);
    await this.#insert("trace_extents", extents, signal);
    await this.#insert("span_counts", rows, signal);
    for (const [trace, changes] of changed) applyChanges(trace, changes);
  }

  async #insert(
    table: "spans" | "span_counts" | "trace_extents",
    rows: readonly object[],
    signal?: AbortSignal,
  ): Promise<void> {
    if (rows.length === 0) return;
    const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const batch = { ndjson, rows: rows.length, token: randomToken(16) };
    await this.#deps.store.insert(table === "spans" ? { ...batch, hasResends: true } : { ...batch, table }, signal);
  }

  /**
   * Higher than all versions that this node and the store know. If two nodes count one trace, the one that read later
   * has seen more.
   */
  #nextVersion(): bigint {
    const { isComplete } = this.#deps.memory;
    if (isComplete) this.#sawClock(BigInt(this.#deps.now()) * 1_000_000n);
    this.#lastVersion += 1n;
    return this.#lastVersion;
  }

  #sawClock(ns: bigint): void {
    if (ns > this.#lastVersion) this.#lastVersion = ns;
  }
}

/** Deletions hold for this long: see ingest/deleted-traces.ts. */
function isWithinDay(deletedAt: string, nowNs: bigint): boolean {
  return (parseTimeNs(deletedAt) ?? 0n) > nowNs - BigInt(domainLimits.deletedTraceMs) * 1_000_000n;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function nameOf(
  organizationId: string,
  { environment, trace_unique_id, unique_id }: Pick<StoredFact, "environment" | "trace_unique_id" | "unique_id">,
): TraceName {
  return { organizationId, environment, trace_unique_id, unique_id: trace_unique_id === "" ? unique_id : "" };
}

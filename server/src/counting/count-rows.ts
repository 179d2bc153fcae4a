import { countUsage, isPlain } from "../domain/count-usage.ts";
import { gatewayLogMethod, hasContent, type SpanRow } from "../domain/span.ts";
import { isSameCount, ownCount, type UsageCount } from "../domain/usage-fact.ts";
import { parseTimeNs } from "../lib/time.ts";
import { storageLimits } from "../storage/limits.ts";
import type { StoredFact, StoredUsageCount } from "../storage/spans/usage-facts.ts";
import type { CountedTrace } from "./trace-memory.ts";

/** A row of `span_counts`. */
export type CountRow = {
  organization_id: string;
  environment: string;
  timestamp: string;
  unique_id: string;
  version: string;
  is_deleted: number;
  trace_unique_id: string;
  received_at: string;
  changes_usage: number;
  counts_tokens: number;
  is_inherited: number;
  cost: number | null;
  customer_identifier: string;
  thread_identifier: string;
};

/**
 * Counts a trace, and returns the changes that correct what is stored of it. Call `applyChanges` with them once they are
 * stored.
 */
export function countTrace(
  trace: CountedTrace,
  isErased: IsErased,
): { changes: Change[]; counts: Map<string, UsageCount> } {
  const facts = [...trace.facts.values()];
  const isUnchanged = trace.reporters.size === 0 && isPlain(facts);
  if (isUnchanged && trace.stored.size === 0) return { changes: [], counts: new Map() };
  const counts = isUnchanged
    ? facts.map(ownCount)
    : countUsage(facts, {
        isGatewayCall: (id) => trace.calls.has(id),
        reporter: (id) => trace.reporters.get(id),
      });
  const found = new Map(
    facts.map((stored, index) => [stored.unique_id, withoutErased(counts[index] ?? unknown, stored, isErased)]),
  );
  const changes: Change[] = [];
  for (const stored of facts) {
    const count = found.get(stored.unique_id) ?? unknown;
    const before = trace.stored.get(keyOf(stored));
    const isOwn = isSameCount(count, ownCount(stored));
    if (isOwn && before !== undefined) changes.push({ stored, count: undefined });
    if (!isOwn && (before === undefined || !isSameRow(stored, count, before))) changes.push({ stored, count });
  }
  for (const [key, before] of trace.stored) {
    const now = trace.facts.get(before.unique_id);
    // The span was resent with another end, or deleted.
    if (now === undefined || keyOf(now) !== key) changes.push({ removed: before });
  }
  return { changes, counts: found };
}

/**
 * Whether a span was received before the customer was deleted: then it must not inherit the customer who now has the
 * name.
 */
export type IsErased = (customerIdentifier: string, span: StoredFact) => boolean;

function withoutErased(count: UsageCount, stored: StoredFact, isErased: IsErased): UsageCount {
  const { customer_identifier: customer } = count;
  if (customer === "" || customer === stored.customer_identifier || !isErased(customer, stored)) return count;
  return { ...count, customer_identifier: "" };
}

const unknown: UsageCount = { counts_tokens: true, cost: null, customer_identifier: "", thread_identifier: "" };

/** Without a count, the span counts for its own values. */
export type Change = { stored: StoredFact; count: UsageCount | undefined } | { removed: StoredUsageCount };

/** A resent span may have the same count but different values of its own. */
function isSameRow(fact: StoredFact, count: UsageCount, before: StoredUsageCount): boolean {
  const { changes_usage, is_inherited } = differences(fact, count);
  return (
    isSameCount(count, before.count) && changes_usage === before.changes_usage && is_inherited === before.is_inherited
  );
}

/** The differences between a count and the span's own values. */
function differences(fact: StoredFact, count: UsageCount) {
  const own = ownCount(fact);
  return {
    changes_usage: count.counts_tokens === own.counts_tokens && count.cost === own.cost ? 0 : 1,
    is_inherited: count.customer_identifier === own.customer_identifier ? 0 : 1,
  };
}

const keyOf = ({ timestamp, unique_id }: { timestamp: string; unique_id: string }): string =>
  `${timestamp} ${unique_id}`;

/** Notes in the trace that the changes are stored. */
export function applyChanges(trace: CountedTrace, changes: readonly Change[]): void {
  for (const change of changes) {
    if ("removed" in change) trace.deleteStored(keyOf(change.removed));
    else if (change.count === undefined) trace.deleteStored(keyOf(change.stored));
    else {
      const { environment, trace_unique_id, timestamp, unique_id } = change.stored;
      const { count } = change;
      const row = { environment, trace_unique_id, timestamp, unique_id, count, ...differences(change.stored, count) };
      trace.setStored(keyOf(change.stored), row);
    }
  }
}

export function rowOfChange(organization_id: string, change: Change, version: bigint): CountRow {
  if ("removed" in change) {
    const { environment, timestamp, unique_id, trace_unique_id } = change.removed;
    const key = { organization_id, environment, timestamp, unique_id, trace_unique_id };
    return { ...key, ...nothing, version: version.toString(), is_deleted: 1, received_at: timestamp };
  }
  const { environment, trace_unique_id, received_at, timestamp, unique_id } = change.stored;
  const key = { organization_id, environment, timestamp, unique_id, trace_unique_id, received_at };
  const { count } = change;
  if (count === undefined) return { ...key, ...nothing, version: version.toString(), is_deleted: 1 };
  return {
    ...key,
    version: version.toString(),
    is_deleted: 0,
    ...differences(change.stored, count),
    counts_tokens: count.counts_tokens ? 1 : 0,
    cost: count.cost,
    customer_identifier: count.customer_identifier,
    thread_identifier: count.thread_identifier,
  };
}

const nothing = {
  changes_usage: 0,
  counts_tokens: 0,
  is_inherited: 0,
  cost: null,
  customer_identifier: "",
  thread_identifier: "",
} as const;

/** A row of `trace_extents`. */
export type ExtentRow = {
  organization_id: string;
  environment: string;
  trace_unique_id: string;
  first: string;
  last: string;
  received_at: string;
};

/** Only for a trace that is not narrow, see `storageLimits.narrowTraceS`. */
export function extentOf({ name, facts }: CountedTrace): ExtentRow | undefined {
  if (name.trace_unique_id === "") return undefined;
  let [first, last, received] = ["", "", ""];
  for (const { timestamp, received_at } of facts.values()) {
    if (first === "" || timestamp < first) first = timestamp;
    if (timestamp > last) last = timestamp;
    if (received_at > received) received = received_at;
  }
  const lengthNs = (parseTimeNs(last) ?? 0n) - (parseTimeNs(first) ?? 0n);
  if (lengthNs <= BigInt(storageLimits.narrowTraceS) * 1_000_000_000n) return undefined;
  const { organizationId: organization_id, environment, trace_unique_id } = name;
  return { organization_id, environment, trace_unique_id, first, last, received_at: received };
}

/** Whether a call belongs to another trace of the same environment. */
export const isElsewhere = (called: CountedTrace, trace: CountedTrace): boolean =>
  called !== trace && called.name.environment === trace.name.environment;

/**
 * Sets the customer and thread of gateway calls that this trace names. Returns the called traces for which that is a
 * change.
 */
export function setReporters(
  trace: CountedTrace,
  counts: ReadonlyMap<string, UsageCount>,
  named: ReadonlyMap<string, CountedTrace>,
): CountedTrace[] {
  const changed: CountedTrace[] = [];
  for (const fact of trace.facts.values()) {
    const id = fact.gateway_log_id;
    const called = id === "" ? undefined : named.get(id);
    const count = counts.get(fact.unique_id);
    if (called === undefined || count === undefined || !isElsewhere(called, trace)) continue;
    const { customer_identifier, thread_identifier } = count;
    const before = called.reporters.get(id);
    if (before?.customer_identifier === customer_identifier && before.thread_identifier === thread_identifier) continue;
    called.setReporter(id, { customer_identifier, thread_identifier });
    changed.push(called);
  }
  return changed;
}

/** The columns of an accepted row that decide what its span counts for, in the form in which the store returns them. */
export function factOfRow(row: SpanRow): StoredFact {
  return {
    environment: row.environment,
    trace_unique_id: row.trace_unique_id ?? "",
    received_at: row.received_at ?? row.timestamp,
    version: BigInt(row.version),
    unique_id: row.unique_id,
    timestamp: row.timestamp,
    start_time: row.start_time ?? row.timestamp,
    span_unique_id: row.span_unique_id ?? "",
    span_parent_id: row.span_parent_id ?? "",
    log_type: row.log_type ?? "",
    is_gateway: row.log_method === gatewayLogMethod,
    has_content: hasContent(row),
    is_failed: row.status === "failed" || Number(row.status_code ?? 0) >= 400,
    model: row.model ?? "",
    response_id: row.response_id ?? "",
    gateway_log_id: row.gateway_log_id ?? "",
    scope_name: row.scope_name ?? "",
    prompt_tokens: numberOf(row.prompt_tokens),
    completion_tokens: numberOf(row.completion_tokens),
    total_tokens: numberOf(row.total_tokens),
    cost: row.cost ?? null,
    is_stated: row.cost_source === "stated",
    customer_identifier: row.customer_identifier ?? "",
    thread_identifier: row.thread_identifier ?? "",
  };
}

function numberOf(value: number | string | null | undefined): number | null {
  return value === undefined || value === null ? null : Number(value);
}

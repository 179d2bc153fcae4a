import type { CustomerKey } from "../../domain/customer.ts";
import type { UsageCount, UsageFact } from "../../domain/usage-fact.ts";
import type { TimeWindow } from "./span-store.ts";

/** The stored facts of a span that decide what it counts for. */
export type StoredFact = UsageFact & {
  environment: string;
  trace_unique_id: string;
  received_at: string;
  /** UInt64. */
  version: bigint;
};

/** A trace, or a span without a trace by its id. */
export type CountedName = { environment: string; trace_unique_id: string; unique_id?: string };

/** `part` is one of `parts`, from 0. */
export type TracesQuery = { organizationId: string; part: number; parts: number };

/**
 * The stored count of a span. `changes_usage` is 1 if its usage differs from the span's own, `is_inherited` is 1 if its
 * customer does. Reads rely on both.
 */
export type StoredUsageCount = {
  environment: string;
  trace_unique_id: string;
  timestamp: string;
  unique_id: string;
  count: UsageCount;
  changes_usage: number;
  is_inherited: number;
};

/** The version of a deletion. It is the highest possible, so a repeated row with the same key changes nothing. */
export const deletionVersion = 2n ** 64n - 1n;

export type SpanIdsQuery = { organizationId: string; ids: readonly string[] };

/** The stored versions of a span with one end time. */
export type StoredVersion = {
  unique_id: string;
  timestamp: string;
  /** The highest, UInt64. */
  version: bigint;
  /** Whether that version is a tombstone: the span was deleted, or resent with another end time. */
  isTombstone: boolean;
  /** The earliest. */
  received_at: string;
};

/**
 * Spans of one organization without a trace that end in a window; or spans of all organizations that were stored within
 * `withinMs`. With `endedWithinMs` only those of them whose identity follows from an `Idempotency-Key`, without a time
 * of their own, compared with versions that ended within that time, whenever these were stored.
 */
export type DividedQuery =
  | { organizationId: string; window: TimeWindow }
  | { withinMs: number; limit: number; endedWithinMs?: number };

/** The trace of the span, or the id of the span if it has no trace. */
export type DividedSpan = Required<CountedName> & { organizationId: string };

/** For one organization. An environment and a trace id identify a trace. */
export type UsageFactsQuery = {
  organizationId: string;
  by: "trace_unique_id" | "unique_id" | "gateway_log_id";
  ids: readonly string[];
};

/** A deleted span and the time of its deletion. */
export type DeletedSpan = { environment: string; unique_id: string; deleted_at: string };

export type StoredUsage = {
  facts: StoredFact[];
  /** Deleted spans, some listed twice. They may have been stored again with another end time. */
  deleted: DeletedSpan[];
  counts: StoredUsageCount[];
  /** The clock of the store when the read began, in nanoseconds since 1970. */
  readAtNs: bigint;
};

/** The reads of the counter. */
export type UsageReads = {
  /** The facts that decide what spans count for, and the stored counts. Only the newest versions. */
  readUsageFacts(query: UsageFactsQuery, signal?: AbortSignal): Promise<StoredUsage>;

  /**
   * Spans for which several nodes stored versions with different end times, and of which no tombstone removed all but
   * one yet.
   */
  listDivided(query: DividedQuery, signal?: AbortSignal): Promise<DividedSpan[]>;

  /** All stored versions of spans, one entry for each end time, in no order. */
  readVersions(query: SpanIdsQuery, signal?: AbortSignal): Promise<StoredVersion[]>;

  /** Traces, and spans without a trace, with a stored count for the customer; at most `limit`. */
  listCountedOf(key: CustomerKey, limit: number, signal?: AbortSignal): Promise<CountedName[]>;

  /** One part of the traces of an organization. `countTraceNames` returns their approximate number. */
  listTraceNames(query: TracesQuery, signal?: AbortSignal): Promise<CountedName[]>;
  countTraceNames(organizationId: string): Promise<number>;
};

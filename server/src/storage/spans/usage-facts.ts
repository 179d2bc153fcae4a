import type { CustomerKey } from "../../domain/customer.ts";
import type { UsageCount, UsageFact } from "../../domain/usage-fact.ts";

/** A span with what decides what it counts for, as it is stored. */
export type StoredFact = UsageFact & {
  environment: string;
  trace_unique_id: string;
  received_at: string;
  /** UInt64. */
  version: bigint;
};

/** A trace, or by its id a span of none. */
export type CountedName = { environment: string; trace_unique_id: string; unique_id?: string };

/** One of `parts`, from 0. */
export type TracesQuery = { organizationId: string; part: number; parts: number };

/**
 * What a span was found to count for. `changes_usage` and `is_inherited` are 1 where that differs from what the span itself says of
 * usage and of its customer: reads rely on them.
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

/** No version is above that of a deletion, so a repeated row of the same key changes nothing. */
export const deletionVersion = 2n ** 64n - 1n;

export type SpanIdsQuery = { organizationId: string; ids: readonly string[] };

/** What was stored of a span with one end time. */
export type StoredVersion = {
  unique_id: string;
  timestamp: string;
  /** The highest, UInt64. */
  version: bigint;
  /** Whether that is a tombstone: it was deleted, or sent again with another end time. */
  isGone: boolean;
  /** The earliest. */
  received_at: string;
};

/** Some spans of an organization, or what came in within a while, of all of them. */
export type DividedQuery = SpanIdsQuery | { withinMs: number; limit: number };

/** Its trace, or where it has none its id. */
export type DividedSpan = Required<CountedName> & { organizationId: string };

/** Of one organization. An environment and an id make a trace. */
export type UsageFactsQuery = {
  organizationId: string;
  by: "trace_unique_id" | "unique_id" | "gateway_log_id";
  ids: readonly string[];
};

/** A span that was deleted, and when. */
export type DeletedSpan = { environment: string; unique_id: string; deleted_at: string };

export type StoredUsage = {
  facts: StoredFact[];
  /** Spans that were deleted, some twice; they may have been stored again with another end time. */
  deleted: DeletedSpan[];
  counts: StoredUsageCount[];
  /** The clock of the store when it began to read, in nanoseconds since 1970. */
  readAtNs: bigint;
};

/** What the counter reads. */
export type UsageReads = {
  /** What decides what spans count for, and what is stored of it: all versions apart from the newest left out. */
  readUsageFacts(query: UsageFactsQuery, signal?: AbortSignal): Promise<StoredUsage>;

  /** Spans of which several nodes stored versions with different end times, where no tombstone leaves one of them yet. */
  listDivided(query: DividedQuery, signal?: AbortSignal): Promise<DividedSpan[]>;

  /** Everything that is stored of spans, one for each end time, in no order. */
  readVersions(query: SpanIdsQuery, signal?: AbortSignal): Promise<StoredVersion[]>;

  /** What counts for a customer, as far as that is stored apart from the spans: at most `limit` traces. */
  listCountedOf(key: CustomerKey, limit: number, signal?: AbortSignal): Promise<CountedName[]>;

  /** A part of the traces of an organization, and how many there are of them, about. */
  listTraceNames(query: TracesQuery, signal?: AbortSignal): Promise<CountedName[]>;
  countTraceNames(organizationId: string): Promise<number>;
};

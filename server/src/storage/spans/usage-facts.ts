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

/** Of one organization. An environment and an id make a trace. */
export type UsageFactsQuery = {
  organizationId: string;
  by: "trace_unique_id" | "unique_id" | "gateway_log_id";
  ids: readonly string[];
};

export type StoredUsage = {
  facts: StoredFact[];
  counts: StoredUsageCount[];
  /** The clock of the store when it began to read, in nanoseconds since 1970. */
  readAtNs: bigint;
};

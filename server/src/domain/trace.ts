import type { Environment } from "./principal.ts";

/** The figures of a trace, for display, sorting and filtering. Money in USD, `duration` in seconds. */
export const traceNumbers = [
  "duration",
  "span_count",
  "llm_call_count",
  "error_count",
  "total_cost",
  "total_tokens",
  "total_prompt_tokens",
  "total_completion_tokens",
  "unpriced_count",
] as const;
export type TraceNumber = (typeof traceNumbers)[number];

/** `timestamp` is the end of the trace, as for a span; `end_time` is an alias. */
export const traceTimes = ["timestamp", "start_time", "end_time"] as const;
export type TraceTime = (typeof traceTimes)[number];

/** Taken from the root, otherwise from the earliest span that has the text. */
export const traceTexts = [
  "customer_identifier",
  "thread_identifier",
  "session_identifier",
  "trace_group_identifier",
  "workflow_name",
  "model",
] as const;
export type TraceText = (typeof traceTexts)[number];

export const traceSortFields = [...traceTimes, ...traceNumbers] as const;
export type TraceSortField = (typeof traceSortFields)[number];

/** Figures that depend on which usage counts, see storage/spans/queries/usage.ts. */
export const usageFigures: ReadonlySet<string> = new Set([
  "total_cost",
  "total_tokens",
  "total_prompt_tokens",
  "total_completion_tokens",
  "unpriced_count",
]);

/** A deletion of the spans of a trace that ended within [fromNs, toNs]; resends of them stay deleted. */
export type TraceDeletion = {
  organization_id: string;
  environment: Environment;
  trace_unique_id: string;
  fromNs: bigint;
  toNs: bigint;
  /** Milliseconds since the epoch. */
  deletedAtMs: number;
};

import type { Environment } from "./principal.ts";

/** The figures of a trace: what its rows show, are sorted by and filtered by. Money in USD, `duration` in seconds. */
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

/** `timestamp` is the end of the trace, as it is of a span; `end_time` is another name for it. */
export const traceTimes = ["timestamp", "start_time", "end_time"] as const;
export type TraceTime = (typeof traceTimes)[number];

/** Said by the root, else by the earliest span that says it. */
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

/** That the spans of a trace that ended within [fromNs, toNs] were deleted; what is sent of them later stays so. */
export type TraceDeletion = {
  organization_id: string;
  environment: Environment;
  trace_unique_id: string;
  fromNs: bigint;
  toNs: bigint;
  /** Milliseconds since the epoch. */
  deletedAtMs: number;
};

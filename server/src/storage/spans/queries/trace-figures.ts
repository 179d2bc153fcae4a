import type { SpanColumn } from "../../../domain/span.ts";
import type { TraceNumber, TraceText, TraceTime } from "../../../domain/trace.ts";
import { traceTexts } from "../../../domain/trace.ts";
import { isError, isModelCall, isUnpriced, rowUsage, sumOf, sumOfCost } from "./usage.ts";

/** The order of a trace's spans, the same as in domain/span-tree.ts. */
const spanOrder = "start_time, timestamp, toString(unique_id)";

const ns = (time: string) => `toUnixTimestamp64Nano(${time})`;

const times: Record<TraceTime, string> = {
  timestamp: "max(timestamp)",
  end_time: "max(timestamp)",
  start_time: "min(start_time)",
};

const numbers: Record<TraceNumber, string> = {
  // Clocks disagree: a duration is never negative.
  duration: `greatest(0, (${ns("max(timestamp)")} - ${ns("min(start_time)")}) / 1e9)`,
  span_count: "count()",
  llm_call_count: `countIf(${isModelCall})`,
  error_count: `countIf(${isError})`,
  total_cost: sumOfCost,
  total_tokens: sumOf(rowUsage.totalTokens),
  total_prompt_tokens: sumOf(rowUsage.promptTokens),
  total_completion_tokens: sumOf(rowUsage.completionTokens),
  unpriced_count: `countIf(${isUnpriced})`,
};

const textColumns = {
  customer_identifier: "customer_identifier",
  thread_identifier: "thread_identifier",
  session_identifier: "session_identifier",
  trace_group_identifier: "trace_group_identifier",
  workflow_name: "span_workflow_name",
  model: "model",
} as const satisfies Record<TraceText, SpanColumn>;

/** A text of a trace: values of spans without a parent take precedence over those of other spans. */
export const traceText = (sql: string) =>
  `argMinIf(toString(${sql}), (span_parent_id != '', ${spanOrder}), ${sql} != '')`;

const texts = Object.fromEntries(traceTexts.map((name) => [name, traceText(textColumns[name])])) as Record<
  TraceText,
  string
>;

/** The figures of a trace as aggregates over its spans, by name. */
export const traceFigures: Readonly<Record<string, string>> = {
  ...times,
  ...numbers,
  ...texts,
  name: `argMin(toString(span_name), (span_parent_id != '', ${spanOrder}))`,
};

/**
 * Spans with `has_parent_here`: whether their parent is in the trace. A span that is its own parent has it, and so is a
 * root only if there is no other.
 */
export function hasParentHere(spans: string, named: string): string {
  const key = (id: string) => `cityHash64(environment, trace_unique_id, ${id})`;
  return `(SELECT *, span_parent_id != '' AND ${key("span_parent_id")} GLOBAL IN
    (SELECT ${key("span_unique_id")} FROM ${named} WHERE span_unique_id != '') AS has_parent_here FROM ${spans}) AS spans`;
}

/**
 * The root: the earliest span that names no parent, else the earliest whose parent is not in the trace
 * (`has_parent_here`). A trace of cycles only has its earliest span as root.
 */
export const rootOf = (columns: readonly SpanColumn[], knowsParents: boolean) =>
  `argMin(tuple(${columns.join(", ")}), (span_parent_id != '', ${knowsParents ? "has_parent_here, " : ""}${spanOrder})) AS root`;

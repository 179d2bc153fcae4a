import { spanColumns, spanExtras, type SpanColumn } from "../../../domain/span.ts";
import { completionMessage, promptMessages } from "./conversation.ts";
import type { ExportColumn, ExportColumns } from "./export-columns.ts";
import { exportedReceipt } from "./exported-receipt.ts";
import { isError } from "./usage.ts";

/** A stored column, unchanged. */
function stored(name: SpanColumn, options: { absent?: string } = {}): ExportColumn {
  const kind = spanColumns[name];
  if (kind === "map") throw new Error(`${name} is not exported`);
  if (name === "cost") return { kind: "money", sql: name };
  return kind === "uuid" ? { kind: "text", sql: `toString(${name})` } : { kind, sql: name, ...options };
}

const text = (sql: string): ExportColumn => ({ kind: "text", sql });
const json = (sql: string, absent?: string): ExportColumn => ({
  kind: "json",
  sql,
  ...(absent !== undefined && { absent }),
});

const same = (...names: SpanColumn[]): ExportColumns => Object.fromEntries(names.map((name) => [name, stored(name)]));

/** The first of these columns that has text. */
const firstText = (...names: SpanColumn[]): ExportColumn =>
  text(`multiIf(${names.map((name) => `${name} != '', ${name}`).join(", ")}, '')`);

/** A member of `spanExtras`, by its kind, read from the document that they share. */
function extra(name: string, kind: string): ExportColumn {
  if (kind === "text") return text(`JSONExtractString(extra, '${name}')`);
  if (kind === "json") return json(`replaceRegexpOne(JSONExtractRaw(extra, '${name}'), '^null$', '')`);
  const type = kind === "integer" ? "Int64" : kind === "boolean" ? "Bool" : "Float64";
  return { kind: kind as "integer" | "number" | "boolean", sql: `JSONExtract(extra, '${name}', 'Nullable(${type})')` };
}

const extras = Object.fromEntries(
  Object.entries(spanExtras)
    .filter(([name]) => name !== "usage_details")
    .map(([name, kind]) => [name, extra(name, kind)]),
);

/**
 * The members of a span in exports, by name: the same as in responses (api/request-logs/span-members.ts), over rows of
 * `countedSpans` joined with `scores`.
 */
export const exportedSpan: ExportColumns = {
  id: stored("unique_id"),
  unique_id: stored("unique_id"),
  organization_id: stored("organization_id"),
  unique_organization_id: stored("organization_id"),
  ...same("organization_key_id", "organization_key_name"),
  // The column is an enumeration in some schemas.
  environment: text("toString(environment)"),
  ...same("timestamp", "start_time"),
  ...same("log_type", "log_method", "model", "provider_id", "deployment_id", "deployment_name"),
  ...same("span_name", "span_workflow_name", "trace_unique_id", "span_unique_id", "span_parent_id"),
  thread_identifier: text("sent_thread_identifier"),
  ...same("session_identifier", "trace_group_identifier"),
  customer_identifier: text("sent_customer_identifier"),
  ...same("customer_email", "customer_name", "custom_identifier", "group_identifier", "evaluation_identifier"),
  ...same("prompt_id", "prompt_name", "response_id", "gateway_log_id", "status"),
  failed: { kind: "boolean", sql: `toBool(${isError})` },
  ...same("status_code", "error_message", "stream", "latency", "time_to_first_token", "tokens_per_second"),
  ...same("routing_time", "prompt_tokens", "completion_tokens", "total_tokens"),
  total_request_tokens: stored("total_tokens"),
  ...same("prompt_cache_hit_tokens", "prompt_cache_creation_tokens", "reasoning_tokens", "cost", "cost_source"),
  cost_details: json(exportedReceipt),
  counted_cost: { kind: "money", sql: "counted_cost" },
  counted_tokens: { kind: "integer", sql: "if(counts_tokens = 1, total_tokens, 0)" },
  counted_customer_identifier: text("customer_identifier"),
  counted_thread_identifier: text("thread_identifier"),
  ...same("price_version", "unpriced", "cache_hit", "cache_key", "temperature", "max_tokens"),
  ...same("positive_feedback", "note"),
  is_pinned: { kind: "boolean", sql: "toBool(ifNull(is_pinned, false))" },
  metadata: stored("metadata", { absent: "{}" }),
  properties: stored("properties", { absent: "{}" }),
  input: firstText("input", "prompt_messages"),
  output: firstText("output", "completion_message", "completion_messages"),
  prompt_messages: json(promptMessages),
  completion_message: json(completionMessage),
  ...same("completion_messages", "tools", "tool_calls"),
  scores: json("scores_of_span", "{}"),
  ...extras,
  limit_info: json("JSONExtractRaw(extra, 'limit_info')", '{"is_allowed":true,"limits":[]}'),
  ...same("full_request", "full_response"),
  blurred: { kind: "boolean", sql: "toBool(0)" },
};

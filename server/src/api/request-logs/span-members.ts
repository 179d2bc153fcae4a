import { spanExtras, type SpanExtra } from "../../domain/span.ts";
import { conversationColumns, messageColumns } from "../../storage/spans/queries/conversation.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import { constant, extra, json, mirrored, scalar, text, time, type SpanMember } from "./span-member.ts";
import { completionMessage, promptMessages, textOf } from "./span-messages.ts";
import { readReceipt } from "../../pricing/receipt.ts";

/** For a span without a check of budgets or credit limits. */
const unlimited = { is_allowed: true, limits: [] };

const extraMembers = Object.fromEntries(
  Object.keys(spanExtras)
    .filter((field) => field !== "usage_details")
    .map((field) => [field, extra(field as SpanExtra)]),
);

/** The members of spans, by name. */
export const spanMembers: Readonly<Record<string, SpanMember>> = {
  id: text("unique_id"),
  unique_id: text("unique_id"),
  organization_id: text("organization_id"),
  unique_organization_id: text("organization_id"),
  organization_key_id: text("organization_key_id"),
  organization_key_name: text("organization_key_name"),
  environment: text("environment"),
  timestamp: time("timestamp"),
  start_time: time("start_time"),
  log_type: text("log_type"),
  log_method: text("log_method"),
  model: text("model"),
  provider_id: text("provider_id"),
  deployment_id: text("deployment_id"),
  deployment_name: text("deployment_name"),
  span_name: text("span_name"),
  span_workflow_name: text("span_workflow_name"),
  trace_unique_id: text("trace_unique_id"),
  span_unique_id: text("span_unique_id"),
  span_parent_id: text("span_parent_id"),
  thread_identifier: text("thread_identifier"),
  session_identifier: text("session_identifier"),
  trace_group_identifier: text("trace_group_identifier"),
  customer_identifier: text("customer_identifier"),
  customer_email: text("customer_email"),
  customer_name: text("customer_name"),
  custom_identifier: text("custom_identifier"),
  group_identifier: text("group_identifier"),
  evaluation_identifier: text("evaluation_identifier"),
  prompt_id: text("prompt_id"),
  prompt_name: text("prompt_name"),
  response_id: text("response_id"),
  gateway_log_id: text("gateway_log_id"),
  status: text("status"),
  failed: { columns: ["status", "status_code"], json: (span) => String(isFailed(span)), lists: true },
  status_code: scalar("status_code"),
  error_message: text("error_message"),
  stream: scalar("stream"),
  latency: scalar("latency"),
  time_to_first_token: scalar("time_to_first_token"),
  tokens_per_second: scalar("tokens_per_second"),
  routing_time: scalar("routing_time"),
  prompt_tokens: scalar("prompt_tokens"),
  completion_tokens: scalar("completion_tokens"),
  total_tokens: scalar("total_tokens"),
  total_request_tokens: scalar("total_tokens"),
  prompt_cache_hit_tokens: scalar("prompt_cache_hit_tokens"),
  prompt_cache_creation_tokens: scalar("prompt_cache_creation_tokens"),
  reasoning_tokens: scalar("reasoning_tokens"),
  cost: scalar("cost"),
  cost_source: text("cost_source"),
  counted_cost: scalar("counted_cost"),
  counted_tokens: scalar("counted_tokens"),
  counted_customer_identifier: text("counted_customer_identifier"),
  counted_thread_identifier: text("counted_thread_identifier"),
  price_version: text("price_version"),
  cost_details: { columns: ["cost_details", "cost_source", "price_version"], json: costDetails, lists: false },
  unpriced: text("unpriced"),
  cache_hit: scalar("cache_hit"),
  cache_key: text("cache_key"),
  temperature: scalar("temperature"),
  max_tokens: scalar("max_tokens"),
  positive_feedback: scalar("positive_feedback"),
  note: text("note"),
  is_pinned: { columns: ["is_pinned"], json: (span) => String(span.is_pinned === true), lists: true },
  metadata: json("metadata", { absent: "{}" }),
  properties: json("properties", { absent: "{}" }),
  input: mirrored("input", "prompt_messages"),
  output: mirrored("output", "completion_message", "completion_messages"),
  prompt_messages: { columns: messageColumns, json: promptMessages, lists: true },
  completion_message: { columns: messageColumns, json: completionMessage, lists: true },
  completion_messages: json("completion_messages"),
  tools: json("tools"),
  tool_calls: json("tool_calls"),
  scores: { columns: [], json: (span) => span.scores ?? "{}", lists: true },
  ...extraMembers,
  limit_info: extra("limit_info", unlimited),
  full_request: json("full_request", { lists: false }),
  full_response: json("full_response", { lists: false }),
  blurred: constant("false", false),
};

/** Members that a response has only if they are requested by name, because the row is not enough to compute them. */
export const requestedMembers: Readonly<Record<string, SpanMember>> = {
  new_messages: {
    columns: [...messageColumns, ...conversationColumns],
    json: (span) => span.new_messages ?? "null",
    lists: false,
  },
  resent_message_count: {
    columns: [...messageColumns, ...conversationColumns],
    json: (span) => span.resent_message_count ?? "null",
    lists: false,
  },
};

function costDetails(span: StoredSpan): string {
  const receipt = readReceipt(textOf(span, "cost_details"), textOf(span, "cost_source"), textOf(span, "price_version"));
  return JSON.stringify(receipt ?? null);
}

function isFailed({ status, status_code }: StoredSpan): boolean {
  return status === "failed" || Number(status_code ?? 0) >= 400;
}

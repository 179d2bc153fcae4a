import { spanExtras, type SpanColumn, type SpanExtra } from "../../domain/span.ts";
import { isObject, parseJsonText } from "../../lib/json.ts";
import { conversationColumns, messageColumns } from "../../storage/spans/queries/conversation.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import { completionMessage, promptMessages, textOf } from "./span-messages.ts";

/** A span with what is not in its row, as JSON text: see attach-scores.ts and attach-new-messages.ts. */
export type ScoredStoredSpan = StoredSpan & { scores?: string; new_messages?: string; resent_message_count?: string };

/**
 * The members of a span in responses: how each is made from stored columns, as JSON text.
 *
 * `lists` says whether list rows have the member too; retrieve has all of them.
 */
export type SpanMember = {
  columns: readonly SpanColumn[];
  json: (span: ScoredStoredSpan) => string;
  lists: boolean;
};

const nullJson = "null";

const orNull = (text: string): string => (text === "" ? nullJson : JSON.stringify(text));

/** Text, absent as null. */
const text = (column: SpanColumn, lists = true): SpanMember => ({
  columns: [column],
  json: (span) => orNull(textOf(span, column)),
  lists,
});

/** Numbers and booleans; integers beyond 2^53 come as their digits. */
const scalar = (column: SpanColumn, lists = true): SpanMember => ({
  columns: [column],
  json: (span) => {
    const value = span[column];
    return typeof value === "string" ? value : (JSON.stringify(value) ?? nullJson);
  },
  lists,
});

/** A stored JSON document. */
const json = (column: SpanColumn, { absent = nullJson, lists = true } = {}): SpanMember => ({
  columns: [column],
  json: (span) => textOf(span, column) || absent,
  lists,
});

/** ISO 8601 in UTC, with as many fraction digits as the instant has but at least milliseconds. */
const time = (column: SpanColumn): SpanMember => ({
  columns: [column],
  json: (span) => JSON.stringify(isoTime(textOf(span, column))),
  lists: true,
});

const zero = 0x30;

export function isoTime(stored: string): string {
  const point = stored.indexOf(".");
  let end = stored.length;
  // By hand, as there are several in each of very many rows.
  while (point !== -1 && end > point + 4 && stored.charCodeAt(end - 1) === zero) end -= 1;
  return `${stored.slice(0, 10)}T${stored.slice(11, end)}Z`;
}

const constant = (value: string, lists = true): SpanMember => ({ columns: [], json: () => value, lists });

/** `input` and `output` are text: what was sent as such, else the JSON text of what stands for them. */
const mirrored = (column: "input" | "output", ...documents: SpanColumn[]): SpanMember => ({
  columns: [column, ...documents],
  json: (span) => {
    const stored = textOf(span, column);
    if (stored !== "") return JSON.stringify(stored);
    return orNull(documents.map((document) => textOf(span, document)).find((document) => document !== "") ?? "");
  },
  lists: true,
});

/** A member that shares the column `extra`. */
const extra = (field: SpanExtra, absent: unknown = null): SpanMember => ({
  columns: ["extra"],
  json: (span) => {
    const stored = textOf(span, "extra");
    return JSON.stringify((stored === "" ? undefined : extrasOf(span, stored)[field]) ?? absent);
  },
  lists: false,
});

const parsedExtras = new WeakMap<StoredSpan, Record<string, unknown>>();

// Some thirty members read the same small document.
function extrasOf(span: StoredSpan, stored: string): Record<string, unknown> {
  const known = parsedExtras.get(span);
  if (known) return known;
  const parsed = parseJsonText(stored);
  const extras = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  parsedExtras.set(span, extras);
  return extras;
}

/** Of a span that no budget or credit limit was asked about. */
const unlimited = { is_allowed: true, limits: [] };

const extraMembers = Object.fromEntries(
  Object.keys(spanExtras)
    .filter((field) => field !== "usage_details")
    .map((field) => [field, extra(field as SpanExtra)]),
);

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
  price_version: text("price_version"),
  cache_hit: scalar("cache_hit"),
  cache_key: text("cache_key"),
  temperature: scalar("temperature"),
  max_tokens: scalar("max_tokens"),
  positive_feedback: scalar("positive_feedback"),
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

/** Members that an answer has where they are asked for by name: telling them takes more than the row. */
export const askedMembers: Readonly<Record<string, SpanMember>> = {
  new_messages: {
    columns: [...messageColumns, ...conversationColumns],
    json: (span) => span.new_messages ?? nullJson,
    lists: false,
  },
  resent_message_count: {
    columns: [...messageColumns, ...conversationColumns],
    json: (span) => span.resent_message_count ?? nullJson,
    lists: false,
  },
};

function isFailed({ status, status_code }: StoredSpan): boolean {
  return status === "failed" || Number(status_code ?? 0) >= 400;
}

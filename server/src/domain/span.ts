import type { Environment } from "./principal.ts";

/**
 * The stored span: one vocabulary from wire to column. Names are those of the interface.
 *
 * Kinds: `text` ('' = absent), `json` (JSON text, '' = absent), `uuid`, `time` (UTC, ns), `integer`, `number`,
 * `boolean` (null = absent), `map` (text → text).
 */
export const spanColumns = {
  // Key. `timestamp` is the END of the span, as in the interface.
  organization_id: "text",
  environment: "text",
  timestamp: "time",
  unique_id: "uuid",
  // Which of several versions of one span wins, see domain/identity.ts.
  version: "integer",
  is_deleted: "integer",
  /** 1 if an earlier row may have the same key, see ingest/accept/span-batch.ts. */
  is_resend: "integer",

  start_time: "time",
  received_at: "time",
  organization_key_id: "text",
  organization_key_name: "text",

  // What it is
  log_type: "text",
  log_method: "text",
  model: "text",
  provider_id: "text",
  deployment_id: "text",
  deployment_name: "text",
  span_name: "text",
  span_workflow_name: "text",
  stream: "boolean",

  // What it belongs to
  trace_unique_id: "text",
  span_unique_id: "text",
  span_parent_id: "text",
  thread_identifier: "text",
  session_identifier: "text",
  trace_group_identifier: "text",
  customer_identifier: "text",
  customer_email: "text",
  customer_name: "text",
  custom_identifier: "text",
  group_identifier: "text",
  evaluation_identifier: "text",
  prompt_id: "text",
  prompt_name: "text",
  /** The provider's id of the response: spans of one trace with the same id and model report the same call. */
  response_id: "text",
  /** The `unique_id` of the gateway's span of the call that this span reports. */
  gateway_log_id: "text",
  /** The OpenTelemetry instrumentation scope that reported the span. */
  scope_name: "text",

  // How it went. `status` is `success` or `failed`.
  status: "text",
  status_code: "integer",
  error_message: "text",
  latency: "number",
  time_to_first_token: "number",
  tokens_per_second: "number",
  routing_time: "number",

  // What it used. The buckets are explained in domain/usage.ts.
  prompt_tokens: "integer",
  completion_tokens: "integer",
  total_tokens: "integer",
  prompt_cache_hit_tokens: "integer",
  prompt_cache_creation_tokens: "integer",
  reasoning_tokens: "integer",
  cost: "number",
  /** `stated`, `computed` or '' (no cost known). */
  cost_source: "text",
  /** The price table and entry behind a computed cost. */
  price_version: "text",
  /** How the cost was computed, as pricing/receipt.ts writes it. */
  cost_details: "text",
  /** Buckets that were counted and have no price: their names, separated by commas. */
  unpriced: "text",
  cache_hit: "boolean",
  cache_key: "text",

  temperature: "number",
  max_tokens: "integer",
  positive_feedback: "boolean",
  /** A note added by a person. */
  note: "text",
  /** Not set by senders: see domain/span-edit.ts. */
  is_pinned: "boolean",

  // Free data. `metadata_index` holds the scalars of `metadata` as text, for filters only.
  metadata: "json",
  metadata_index: "map",
  /** Keys starting with `_`: stored, never returned, never filtered. */
  metadata_reserved: "json",
  properties: "json",
  /** All of `spanExtras` that was sent, as one JSON object. */
  extra: "json",

  // Payload: never read by lists, sums and groups.
  input: "text",
  output: "text",
  prompt_messages: "json",
  completion_message: "json",
  completion_messages: "json",
  tools: "json",
  tool_calls: "json",
  full_request: "json",
  full_response: "json",
} as const;

export type SpanColumn = keyof typeof spanColumns;

/**
 * What a span counts for in every sum, as opposed to its own values: read like columns, and stored separately
 * (domain/count-usage.ts). Cost and tokens are 0 if another span counts instead, and null if unknown.
 */
export const countedColumns = {
  counted_cost: "number",
  counted_tokens: "integer",
  counted_customer_identifier: "text",
  counted_thread_identifier: "text",
} as const;

export type CountedColumn = keyof typeof countedColumns;
export type ReadColumn = SpanColumn | CountedColumn;

export function isCountedColumn(column: ReadColumn): column is CountedColumn {
  return Object.hasOwn(countedColumns, column);
}

export type ColumnKind = (typeof spanColumns)[SpanColumn];

/** Fields that are stored and returned but neither filtered nor summed; they share the column `extra`. */
export const spanExtras = {
  error_code: "text",
  warnings: "json",
  span_path: "text",
  trace_name: "text",
  span_handoffs: "json",
  span_tools: "json",
  span_links: "json",
  prompt_version_number: "number",
  category: "text",
  top_p: "number",
  frequency_penalty: "number",
  presence_penalty: "number",
  n: "integer",
  stop: "json",
  encoding_format: "text",
  dimensions: "integer",
  tool_choice: "json",
  response_format: "json",
  variables: "json",
  ideal_output: "json",
  reasoning: "json",
  embedding: "json",
  audio_input_file: "json",
  audio_output_file: "json",
  prompt_unit_price: "number",
  completion_unit_price: "number",
  /** The usage object as sent, beside the normalized buckets. */
  usage: "json",
  /** Buckets that only pricing needs, by the names of pricing/buckets.ts. */
  usage_details: "json",
  usage_is_estimated: "boolean",
  customer_params: "json",
  limit_info: "json",
  /**
   * Set for a gateway call whose attempts did not all succeed: `{provider, model, status_code, error_message, latency,
   * cost}` of each.
   */
  attempts: "json",
  is_log_omitted: "boolean",
} as const;

export type SpanExtra = keyof typeof spanExtras;

type ColumnValue<K extends ColumnKind> = K extends "text" | "uuid" | "time"
  ? string
  : K extends "integer"
    ? number | string
    : K extends "number"
      ? number | null
      : K extends "boolean"
        ? boolean | null
        : K extends "map"
          ? Record<string, string>
          : unknown;

/** A row as the writer sends it: one NDJSON object. Absent members take the column's default ('' or null). */
export type SpanRow = {
  organization_id: string;
  environment: Environment;
  /** `YYYY-MM-DD hh:mm:ss.nnnnnnnnn`, UTC. */
  timestamp: string;
  unique_id: string;
  /** UInt64 as decimal text. */
  version: string;
} & {
  [C in Exclude<SpanColumn, "organization_id" | "environment" | "timestamp" | "unique_id" | "version">]?: ColumnValue<
    (typeof spanColumns)[C]
  >;
};

/** Columns with the input and output of a model or a function. */
export const contentColumns = [
  "input",
  "output",
  "prompt_messages",
  "completion_message",
  "completion_messages",
] as const satisfies readonly SpanColumn[];

export function hasContent(row: Pick<SpanRow, (typeof contentColumns)[number]>): boolean {
  return contentColumns.some((column) => {
    const value = row[column];
    return value !== undefined && value !== null && value !== "";
  });
}

/**
 * Log types of model calls that carry messages: their input and output repeat prompt_messages and completion_message.
 */
export const messageLogTypes = ["chat", "completion", "text", "response"] as const;

/** Log types counted as model calls (`llm_call_count`) and priced by tokens. */
export const llmLogTypes = [
  ...messageLogTypes,
  "generation",
  "embedding",
  "speech",
  "transcription",
  "reranker",
] as const;

/** The `log_method` of spans of gateway calls, and of gateway calls by evaluators. Senders cannot set them. */
export const gatewayLogMethod = "gateway";
export const judgeLogMethod = "evaluation";

export type SpanScope = {
  organization_id: string;
  /** Absent: both environments. */
  environment?: Environment;
};

/** Status words of senders, in lower case → the stored status. */
export const spanStatusWords: ReadonlyMap<string, "success" | "failed"> = new Map([
  ["success", "success"],
  ["succeeded", "success"],
  ["ok", "success"],
  ["failed", "failed"],
  ["failure", "failed"],
  ["error", "failed"],
]);

/** Returns `success` or `failed` for the words that senders use, in any case; other words are returned unchanged. */
export function spanStatusOf(word: string): string {
  return spanStatusWords.get(word.trim().toLowerCase()) ?? word;
}

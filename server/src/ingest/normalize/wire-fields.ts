import { gatewayLogMethod, judgeLogMethod, spanColumns, spanExtras, type ColumnKind } from "../../domain/span.ts";
import { paramsFields, productFamilies } from "../../domain/product-families.ts";
import * as read from "../../validation/field-readers.ts";
import type { Reader } from "../../validation/field-readers.ts";

/**
 * The fields of a span body: field → reader. Plain fields are stored as read, in the column or extra of the same name;
 * normalize.ts computes columns from the derived ones. Everything else in a body is ignored.
 */
export const plainFields = {
  log_type: read.name,
  log_method: read.name,
  model: read.identifier,
  provider_id: read.identifier,
  deployment_name: read.identifier,
  span_name: read.name,
  span_workflow_name: read.name,
  stream: read.boolean,
  trace_unique_id: read.identifier,
  span_unique_id: read.identifier,
  span_parent_id: read.identifier,
  thread_identifier: read.identifier,
  session_identifier: read.identifier,
  trace_group_identifier: read.identifier,
  customer_identifier: read.customerIdentifier,
  customer_email: read.identifier,
  customer_name: read.name,
  custom_identifier: read.identifier,
  group_identifier: read.identifier,
  evaluation_identifier: read.identifier,
  prompt_id: read.identifier,
  prompt_name: read.name,
  response_id: read.identifier,
  gateway_log_id: read.identifier,
  scope_name: read.name,
  error_message: read.text,
  latency: read.seconds,
  time_to_first_token: read.seconds,
  tokens_per_second: read.seconds,
  routing_time: read.seconds,
  temperature: read.finiteNumber,
  max_tokens: read.count,
  positive_feedback: read.boolean,
  cache_hit: read.boolean,
  cache_key: read.identifier,
  properties: read.object,
  input: read.textOrJson,
  output: read.textOrJson,
  prompt_messages: read.list,
  completion_message: read.object,
  completion_messages: read.list,
  tools: read.list,
  tool_calls: read.list,
  full_request: read.anyJson,
  full_response: read.anyJson,
  deployment_id: read.identifier,
  prompt_version_number: read.version,
  error_code: read.anyJson,
  warnings: read.anyJson,
  span_path: read.name,
  trace_name: read.name,
  span_handoffs: read.anyJson,
  span_tools: read.anyJson,
  span_links: read.anyJson,
  category: read.name,
  note: read.text,
  top_p: read.finiteNumber,
  frequency_penalty: read.finiteNumber,
  presence_penalty: read.finiteNumber,
  n: read.count,
  stop: read.textOrList,
  encoding_format: read.name,
  dimensions: read.count,
  tool_choice: read.textOrObject,
  response_format: read.textOrObject,
  variables: read.object,
  ideal_output: read.anyJson,
  reasoning: read.anyJson,
  embedding: read.anyJson,
  audio_input_file: read.anyJson,
  audio_output_file: read.anyJson,
  prompt_unit_price: read.money,
  completion_unit_price: read.money,
  usage: read.object,
  usage_is_estimated: read.boolean,
  customer_params: read.customerParams,
  limit_info: read.object,
  attempts: read.list,
} as const satisfies Record<string, Reader<unknown>>;

export const derivedFields = {
  timestamp: read.time,
  start_time: read.time,
  status: read.name,
  status_code: read.integer,
  cost: read.money,
  metadata: read.object,
  disable_log: read.boolean,
  prompt_tokens: read.count,
  completion_tokens: read.count,
  total_tokens: read.count,
  prompt_cache_hit_tokens: read.count,
  prompt_cache_creation_tokens: read.count,
  reasoning_tokens: read.count,
  cache_creation_1h_tokens: read.count,
  audio_prompt_tokens: read.count,
  audio_completion_tokens: read.count,
  usage_details: read.object,
} as const satisfies Record<string, Reader<unknown>>;

/**
 * Fields that state what the gateway itself decided or did: ignored from any other sender. All other fields are facts
 * that any sender may state, including `cache_hit` and `usage_is_estimated`: other gateways have caches too.
 */
export const gatewayFields = ["limit_info", "attempts"] as const satisfies ReadonlyArray<keyof typeof plainFields>;

/** The log methods that may set `gatewayFields`. */
export const serviceLogMethods: ReadonlySet<string> = new Set([gatewayLogMethod, judgeLogMethod]);

/** Alias → the field's own name, which takes precedence if both are sent. */
export const fieldAliases: Record<string, string> = {
  generation_time: "latency",
  ttft: "time_to_first_token",
  messages: "prompt_messages",
  workflow_name: "span_workflow_name",
  total_request_tokens: "total_tokens",
  all_tokens: "total_tokens",
  end_time: "timestamp",
};

/**
 * Members of bodies that are not fields but are not reported as unknown: members of responses that clients send back,
 * and parameters of other services of these product families.
 */
export const silentMembers: ReadonlySet<string> = new Set([
  ...paramsFields,
  ...productFamilies.map((family) => `${family}_api_controls`),
  ...Object.keys(spanColumns),
  ...Object.keys(spanExtras),
  "id",
  "unique_organization_id",
  "failed",
  "scores",
  "blurred",
  "is_test",
  "has_webhook",
  "disable_fallback",
  "request_breakdown",
  "field_name",
  "delimiter",
  "is_custom_prompt",
  "for_eval",
  "eval_params",
]);

type ValueOf<R> = R extends Reader<infer T> ? T : never;
type ValuesOf<F> = { -readonly [K in keyof F]?: ValueOf<F[K]> | undefined };

export type PlainValues = ValuesOf<typeof plainFields>;
export type DerivedValues = ValuesOf<typeof derivedFields>;

export type WireField = { field: string; reader: Reader<unknown>; isAlias: boolean };

/** Every accepted name, including aliases; a Map, so that a hostile key cannot reach the prototype. */
export const wireFields: ReadonlyMap<string, WireField> = new Map(
  Object.entries<Reader<unknown>>({ ...plainFields, ...derivedFields }).flatMap(([field, reader]) =>
    [field, ...aliasesOf(field)].map((name): [string, WireField] => [name, { field, reader, isAlias: name !== field }]),
  ),
);

function aliasesOf(field: string): string[] {
  return Object.keys(fieldAliases).filter((alias) => fieldAliases[alias] === field);
}

/** Where each plain field is stored; `document` is a column of JSON text. */
export const placeOfField: ReadonlyMap<string, "column" | "document" | "extra"> = new Map(
  Object.keys(plainFields).map((field): [string, "column" | "document" | "extra"] => {
    const kind = (spanColumns as Record<string, ColumnKind>)[field];
    if (kind !== undefined) return [field, kind === "json" ? "document" : "column"];
    if (field in spanExtras) return [field, "extra"];
    throw new Error(`the field ${field} has no place in domain/span.ts`);
  }),
);

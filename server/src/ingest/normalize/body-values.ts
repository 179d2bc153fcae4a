import { wholeBody, type FieldErrors } from "../../domain/errors.ts";
import { domainLimits } from "../../domain/limits.ts";
import { paramsFields } from "../../domain/product-families.ts";
import { spanExtras, type SpanColumn, type SpanRow } from "../../domain/span.ts";
import { filterLimits } from "../../filter/limits.ts";
import { httpLimits } from "../../http/limits.ts";
import { exceedsShape, isObject } from "../../lib/json.ts";
import { list, object, Problem, type NestedJson } from "../../validation/field-readers.ts";
import type { SpanOrigin } from "./normalize.ts";
import { silentMembers, wireFields, type DerivedValues, type PlainValues } from "./wire-fields.ts";

/** The values of a span's fields, as its body states them. */
export type BodyValues = PlainValues & DerivedValues;
/** `unknown`: some of the unknown members of the body; absent if the body has none. */
export type ReadBody =
  | { ok: true; values: BodyValues; unknown?: readonly string[] | undefined }
  | { ok: false; errors: FieldErrors };

/**
 * Reads one span body: known fields by their readers, aliases onto their own names, service parameters
 * (`svc_params` and its legacy names) merged below the body's own fields. `null` counts as absent.
 */
export function readBody(body: unknown, nested: NestedJson): ReadBody {
  if (!isObject(body)) return failed(wholeBody, "must be a JSON object");
  const shape = exceedsShape(body, filterLimits.spanDepth, domainLimits.spanNodes);
  if (shape === "depth") return failed(wholeBody, `must not nest deeper than ${filterLimits.spanDepth} levels`);
  if (shape === "nodes") return failed(wholeBody, `must not hold more than ${domainLimits.spanNodes} values`);
  const errors: FieldErrors = {};
  const own: Reading = { path: "", errors, nested };
  const values = readFields(body, own);
  for (const field of paramsFields) {
    const params = body[field];
    if (params === undefined || params === null) continue;
    if (!isObject(params)) return failed(field, "must be an object");
    for (const [key, value] of Object.entries(readFields(params, { path: `${field}.`, errors, nested })))
      values[key] ??= value;
  }
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  return { ok: true, values: typedByReaders(values), unknown: own.unknown };
}

type Reading = { path: string; errors: FieldErrors; nested: NestedJson; unknown?: string[] };

function readFields(source: Record<string, unknown>, reading: Reading): Record<string, unknown> {
  const { path, errors, nested } = reading;
  const values: Record<string, unknown> = {};
  let fromAlias: Set<string> | undefined;
  for (const key of Object.keys(source)) {
    const place = wireFields.get(key);
    const raw = source[key];
    if (raw === null || raw === undefined) continue;
    if (!place) {
      noteUnknown(reading, key);
      continue;
    }
    const { field } = place;
    if (values[field] !== undefined && (place.isAlias || !fromAlias?.has(field))) continue;
    const isTree = place.reader === object || place.reader === list;
    const given = isTree && typeof raw === "string" ? nested.read(raw) : raw;
    const value = given instanceof Problem ? given : place.reader(given);
    if (value instanceof Problem) errors[path + key] = [value.message];
    else if (value !== undefined) {
      values[field] = value;
      if (place.isAlias) (fromAlias ??= new Set()).add(field);
    }
  }
  return values;
}

function noteUnknown(reading: Reading, key: string): void {
  if (silentMembers.has(key) || (reading.unknown?.length ?? 0) >= httpLimits.unknownMembersNamed) return;
  (reading.unknown ??= []).push(key.slice(0, domainLimits.identifierChars));
}

function failed(field: string, message: string): ReadBody {
  return { ok: false, errors: { [field]: [message] } };
}

/** Safe because each member was read by the reader that its type is inferred from. */
function typedByReaders(values: Record<string, unknown>): BodyValues {
  return values;
}

/**
 * A row with every column that a sender may fill. Absent columns are undefined, which JSON omits: all rows then have
 * the same shape, and V8 serializes them several times faster than rows built column by column.
 */
export type OpenRow = Pick<SpanRow, KeyColumn> & {
  [C in Exclude<SpanColumn, KeyColumn | "is_deleted" | "is_resend" | "is_pinned">]: SpanRow[C] | undefined;
};

type KeyColumn = "organization_id" | "environment" | "timestamp" | "unique_id" | "version";

/** Columns of a row that are computed rather than copied from the body. */
type RowFacts = Pick<OpenRow, "timestamp" | "unique_id" | "version" | "start_time" | "received_at"> &
  Pick<OpenRow, "log_type" | "status" | "status_code" | "latency">;

/** The row of a span with the copied columns filled; usage, cost and metadata are added later. */
export function rowOfValues(values: BodyValues, origin: SpanOrigin, facts: RowFacts): OpenRow {
  return {
    organization_id: origin.organization_id,
    environment: origin.environment,
    timestamp: facts.timestamp,
    unique_id: facts.unique_id,
    version: facts.version,
    start_time: facts.start_time,
    received_at: facts.received_at,
    organization_key_id: origin.organization_key_id,
    organization_key_name: origin.organization_key_name,
    log_type: facts.log_type,
    log_method: values.log_method ?? origin.log_method,
    model: values.model,
    provider_id: values.provider_id,
    deployment_id: values.deployment_id,
    deployment_name: values.deployment_name,
    span_name: values.span_name,
    span_workflow_name: values.span_workflow_name,
    stream: values.stream,
    trace_unique_id: values.trace_unique_id,
    span_unique_id: values.span_unique_id,
    span_parent_id: values.span_parent_id,
    thread_identifier: values.thread_identifier,
    session_identifier: values.session_identifier,
    trace_group_identifier: values.trace_group_identifier,
    customer_identifier: values.customer_identifier,
    customer_email: values.customer_email,
    customer_name: values.customer_name,
    custom_identifier: values.custom_identifier,
    group_identifier: values.group_identifier,
    evaluation_identifier: values.evaluation_identifier,
    prompt_id: values.prompt_id,
    prompt_name: values.prompt_name,
    response_id: values.response_id,
    gateway_log_id: values.gateway_log_id,
    scope_name: values.scope_name,
    status: facts.status,
    status_code: facts.status_code,
    error_message: values.error_message,
    latency: facts.latency,
    time_to_first_token: values.time_to_first_token,
    tokens_per_second: values.tokens_per_second,
    routing_time: values.routing_time,
    prompt_tokens: undefined,
    completion_tokens: undefined,
    total_tokens: undefined,
    prompt_cache_hit_tokens: undefined,
    prompt_cache_creation_tokens: undefined,
    reasoning_tokens: undefined,
    cost: undefined,
    cost_source: undefined,
    price_version: undefined,
    cost_details: undefined,
    unpriced: undefined,
    cache_hit: values.cache_hit,
    cache_key: values.cache_key,
    temperature: values.temperature,
    max_tokens: values.max_tokens,
    positive_feedback: values.positive_feedback,
    note: values.note,
    metadata: undefined,
    metadata_index: undefined,
    metadata_reserved: undefined,
    properties: values.properties,
    extra: extraOf(values),
    input: values.input as string | undefined,
    output: values.output as string | undefined,
    prompt_messages: values.prompt_messages,
    completion_message: values.completion_message,
    completion_messages: values.completion_messages,
    tools: values.tools,
    tool_calls: values.tool_calls,
    full_request: document(values.full_request),
    full_response: document(values.full_response),
  };
}

/** A text column stores strings unquoted: a document that is itself a string must be sent as JSON text to stay one. */
function document(value: unknown): unknown {
  return typeof value === "string" ? JSON.stringify(value) : value;
}

const extraFields: ReadonlySet<string> = new Set(Object.keys(spanExtras));

function extraOf(values: BodyValues): Record<string, unknown> | undefined {
  let extra: Record<string, unknown> | undefined;
  const all: Record<string, unknown> = values;
  for (const field in all) {
    // Most fields are columns: their values need not be read.
    if (extraFields.has(field) && all[field] !== undefined) (extra ??= {})[field] = all[field];
  }
  if (values.disable_log === true) (extra ??= {})["is_log_omitted"] = true;
  return extra;
}

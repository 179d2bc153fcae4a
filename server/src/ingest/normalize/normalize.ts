import type { FieldErrors } from "../../domain/errors.ts";
import { completeness, formatUuid, newIdentity, spanIdentity, spanVersion } from "../../domain/identity.ts";
import { domainLimits } from "../../domain/limits.ts";
import type { Environment, Principal } from "../../domain/principal.ts";
import { spanStatusOf, messageLogTypes, type SpanRow } from "../../domain/span.ts";
import { filterLimits } from "../../filter/limits.ts";
import { indexMetadata } from "../../filter/metadata-index.ts";
import { exceedsShape, isObject, parseJsonText } from "../../lib/json.ts";
import { maxTimeNs, minTimeNs, storedTime } from "../../lib/time.ts";
import { answersOf } from "../../messages/answers.ts";
import { readRequest } from "../../messages/request.ts";
import { readResponse } from "../../messages/response.ts";
import { withOpenAiCalls } from "../../messages/tool-calls.ts";
import type { PriceBook } from "../../pricing/price-book.ts";
import { sellerOf } from "../../pricing/receipt.ts";
import type { NestedJson } from "../../validation/field-readers.ts";
import { readBody, rowOfValues, type BodyValues, type OpenRow } from "./body-values.ts";
import { withoutContent } from "./omit-content.ts";
import { placeUsage, priceOf, readUsage } from "./place-usage.ts";
import { gatewayFields, serviceLogMethods } from "./wire-fields.ts";

/** Where a span comes from: facts that its body cannot set. */
export type SpanOrigin = {
  organization_id: string;
  environment: Environment;
  organization_key_id: string;
  organization_key_name: string;
  /** The route it came by, unless the body names another: `logging_api`, `tracing_integration` … */
  log_method: string;
};

/** `environment`: where a person's token writes, which belongs to no environment. */
export function originOf(principal: Principal, logMethod: string, environment: Environment = "prod"): SpanOrigin {
  const isKey = principal.kind === "key";
  return {
    organization_id: principal.organization_id,
    environment: isKey ? principal.environment : environment,
    organization_key_id: isKey ? principal.organization_key_id : "",
    organization_key_name: isKey ? principal.organization_key_name : "",
    log_method: logMethod,
  };
}

/** Spans of instrumentations and SDKs. */
const tracedLogMethod = "tracing_integration";

export type NormalizedSpan = {
  row: SpanRow;
  identity: Buffer;
  /** Whether the identity is derived from what was sent, so that a resend is recognized. */
  isIdentified: boolean;
  timestampNs: bigint;
  version: bigint;
};

export type NormalizeResult =
  | { ok: true; span: NormalizedSpan; unknown: readonly string[] | undefined }
  | { ok: false; errors: FieldErrors };

/**
 * `receivedNs` must rise with every call: it dates the version. `idempotencyKey` identifies this row within a request
 * that may be repeated; `identity` is the id of a row whose id cannot be derived from its content.
 */
export type NormalizeOptions = {
  receivedNs: bigint;
  prices: PriceBook;
  idempotencyKey?: string | undefined;
  identity?: Buffer | undefined;
};

/**
 * Converts one span body, as parsed JSON, to the row that is stored.
 * @param nested shared by the rows of a request
 */
export function normalizeSpan(
  body: unknown,
  origin: SpanOrigin,
  { nested, ...options }: NormalizeOptions & { nested: NestedJson },
): NormalizeResult {
  const read = readBody(body, nested);
  if (!read.ok) return read;
  return { ok: true, span: normalizeValues(read.values, origin, options), unknown: read.unknown };
}

function normalizeValues(
  values: BodyValues,
  origin: SpanOrigin,
  { receivedNs, prices, idempotencyKey, identity: given }: NormalizeOptions,
): NormalizedSpan {
  const isOurs = serviceLogMethods.has(origin.log_method);
  if (!isOurs) {
    withoutClaims(values);
    placeResponseItems(values);
    placeChoices(values);
  }
  if (origin.log_method === tracedLogMethod && isResponsesBody(values)) values.log_type = "response";

  const times = readTimes(values, receivedNs);
  if (times.isReversed) values.warnings ??= "timestamp lies before start_time";
  const usage = readUsage(values);
  const outcome = readOutcome(values);
  const hasOutput = (values.output ?? values.completion_message ?? values.completion_messages) !== undefined;
  const rank = completeness({
    hasOutcome: hasOutput || outcome.status === "failed",
    hasUsage: usage !== undefined || values.cost !== undefined,
    hasEnded: (times.latency ?? 0) > 0,
  });
  const version = spanVersion(rank, receivedNs);
  const { identity, isIdentified } = identify(values, origin, { idempotencyKey, given });

  const row = rowOfValues(values.disable_log === true ? withoutContent(values, { isOurs }) : values, origin, {
    timestamp: storedTime(times.timestampNs),
    unique_id: formatUuid(identity),
    version: version.toString(),
    start_time: storedTime(times.startNs),
    received_at: storedTime(receivedNs),
    log_type: logTypeOf(values),
    status: outcome.status,
    status_code: outcome.status_code,
    latency: times.latency ?? values.latency,
  });
  placeCustomer(row, values);
  placeMessages(row, values);
  placeToolCalls(row);
  const price = priceOf(values, origin.organization_id, usage, { timestampNs: times.timestampNs, prices });
  placeUsage(row, values, usage, price);
  // SDKs do not always state the provider of a model.
  if (origin.log_method === tracedLogMethod) row.provider_id ??= sellerOf(price?.version ?? "");
  placeMetadata(row, values.metadata);
  return { row: asRow(row), identity, isIdentified, timestampNs: times.timestampNs, version };
}

/** SDKs of agents send the response of the Responses API unchanged, as a text or a chat. */
function isResponsesBody({ log_type, full_response }: BodyValues): boolean {
  const isCall = log_type === undefined || log_type === "text" || log_type === "chat" || log_type === "generation";
  return isCall && isObject(full_response) && full_response["object"] === "response";
}

/**
 * Removes fields that only the gateway may set, and a log method reserved for the service: the route's then applies.
 */
function withoutClaims(values: BodyValues): void {
  for (const field of gatewayFields) delete values[field];
  if (values.log_method !== undefined && serviceLogMethods.has(values.log_method)) delete values.log_method;
}

function identify(
  values: BodyValues,
  { organization_id, environment }: SpanOrigin,
  { idempotencyKey, given }: { idempotencyKey: string | undefined; given: Buffer | undefined },
): { identity: Buffer; isIdentified: boolean } {
  const { trace_unique_id: trace, span_unique_id: span } = values;
  if (trace !== undefined && span !== undefined) {
    return { identity: spanIdentity({ organization_id, environment, trace, span }), isIdentified: true };
  }
  if (idempotencyKey !== undefined) {
    // Text from a body contains no NUL, so no trace id equals this one.
    const key = { organization_id, environment, trace: "\0idempotency-key", span: idempotencyKey };
    return { identity: spanIdentity(key), isIdentified: true };
  }
  return { identity: given ?? newIdentity(), isIdentified: false };
}

function readOutcome({ status, status_code }: BodyValues): { status: string; status_code: number } {
  const stated = spanStatusOf(status ?? "success");
  if (stated === "failed" || (status_code ?? 0) >= 400) return { status: "failed", status_code: status_code ?? 500 };
  return { status: stated, status_code: status_code ?? 200 };
}

function logTypeOf(values: BodyValues): string {
  if (values.log_type !== undefined) return values.log_type;
  const hasMessages = (values.prompt_messages ?? values.completion_message ?? values.completion_messages) !== undefined;
  return hasMessages ? "chat" : "text";
}

function isMessageLogType(logType: string | undefined): boolean {
  return (messageLogTypes as readonly string[]).includes(logType ?? "");
}

/**
 * Reads `input`, `output` and `full_response` of a call of the Responses API: lists of items (messages, reasoning,
 * calls and results) become messages if the body has none. The originals are kept unchanged. Any model call without
 * output takes its response from `full_response`.
 */
function placeResponseItems(values: BodyValues): void {
  if (!(messageLogTypes as readonly unknown[]).includes(values.log_type)) return;
  if (values.log_type === "response") {
    const request = values.prompt_messages === undefined ? readRequest(treeOf(values.input)) : undefined;
    if (request) values.prompt_messages = request.prompt;
    if (request?.tools) values.tools ??= request.tools;
  }
  if ((values.completion_message ?? values.completion_messages) !== undefined) return;
  const given = values.log_type === "response" ? treeOf(values.output) : undefined;
  const answer = readResponse(given) ?? (values.output === undefined ? readResponse(values.full_response) : undefined);
  if (answer === undefined) return;
  const { answer: message, all } = answersOf(answer, values.n);
  if (message) values.completion_message = { ...message };
  if (all) values.completion_messages = [...all];
}

/** The tree that a text is the JSON of, within the bounds of a span; other values as they are. */
function treeOf(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  const parsed = parseJsonText(value);
  const isRetained =
    parsed.ok && exceedsShape(parsed.value, filterLimits.spanDepth, domainLimits.spanNodes) === undefined;
  return isRetained ? parsed.value : value;
}

/**
 * Handles several choices of a model, given as `completion_messages` or as the `choices` of a chat completion in
 * `output`: the one with index 0 becomes the completion message, and all are kept, in order.
 */
function placeChoices(values: BodyValues): void {
  if (values.log_type !== undefined && !(messageLogTypes as readonly string[]).includes(values.log_type)) return;
  const given = values.completion_messages;
  const messages = given === undefined ? choicesIn(values) : (messagesOf(given) ?? given);
  const first = messages?.[0];
  if (messages === undefined || !isObject(first)) return;
  values.completion_message ??= first;
  if (given !== undefined || messages.length > 1) values.completion_messages = messages;
}

function choicesIn({ completion_message: answer, output }: BodyValues): unknown[] | undefined {
  if (answer !== undefined || output === undefined) return undefined;
  if (typeof output === "string" && !output.includes('"choices"')) return undefined;
  const tree = treeOf(output);
  return isObject(tree) && Array.isArray(tree["choices"]) ? messagesOf(tree["choices"]) : undefined;
}

/** The messages of choices, sorted by index; undefined if the values are not choices. */
function messagesOf(choices: readonly unknown[]): unknown[] | undefined {
  const numbered = choices.map((choice, position) => {
    if (!isObject(choice) || !isObject(choice["message"])) return undefined;
    const { index, message } = choice;
    return { index: typeof index === "number" ? index : position, message };
  });
  if (numbered.length === 0 || numbered.some((choice) => choice === undefined)) return undefined;
  return numbered
    .flatMap((choice) => choice ?? [])
    .toSorted((a, b) => a.index - b.index)
    .map(({ message }) => message);
}

function placeCustomer(row: OpenRow, { customer_params }: BodyValues): void {
  if (!customer_params) return;
  const promote = (param: string, column: "customer_identifier" | "customer_email" | "customer_name"): void => {
    const value = customer_params[param];
    if (typeof value === "string" && value !== "") row[column] ??= value;
  };
  promote("customer_identifier", "customer_identifier");
  promote("email", "customer_email");
  promote("name", "customer_name");
}

/**
 * Messages are stored once: `input` and `output` of a message log are dropped if they repeat the messages; readers
 * derive the one from the other (api/request-logs/present-span.ts).
 */
function placeMessages(row: OpenRow, values: BodyValues): void {
  if (!isMessageLogType(logTypeOf(values))) return;
  if (row.input !== undefined && row.prompt_messages !== undefined && isSameJson(row.input, row.prompt_messages)) {
    row.input = undefined;
  }
  if (
    row.output !== undefined &&
    row.completion_message !== undefined &&
    isSameJson(row.output, row.completion_message)
  ) {
    row.output = undefined;
  }
}

/**
 * Copies the tool calls of a model's response to the column `tool_calls`, so that filters need not read the payload.
 */
function placeToolCalls(row: OpenRow): void {
  if (row.tool_calls !== undefined) row.tool_calls = withOpenAiCalls(row.tool_calls);
  if (!isObject(row.completion_message)) return;
  const stated = row.completion_message["tool_calls"];
  if (!Array.isArray(stated) || stated.length === 0) return;
  const calls = withOpenAiCalls(stated);
  if (calls !== stated) row.completion_message = { ...row.completion_message, tool_calls: calls };
  row.tool_calls ??= calls;
}

function isSameJson(text: unknown, value: unknown): boolean {
  const json = JSON.stringify(value);
  return (typeof text === "string" ? text : JSON.stringify(text)) === json;
}

function placeMetadata(row: OpenRow, metadata: Record<string, unknown> | undefined): void {
  if (!metadata) return;
  const keys = Object.keys(metadata);
  if (keys.length === 0) return;
  if (!keys.some(isReserved)) {
    row.metadata = metadata;
    row.metadata_index = indexMetadata(metadata);
    return;
  }
  const entries = Object.entries(metadata);
  const shown = Object.fromEntries(entries.filter(([key]) => !isReserved(key)));
  row.metadata = shown;
  row.metadata_index = indexMetadata(shown);
  row.metadata_reserved = Object.fromEntries(entries.filter(([key]) => isReserved(key)));
}

function isReserved(key: string): boolean {
  return key.startsWith("_");
}

/** Undefined members count as absent: rows are read by member, and written as JSON. */
function asRow(row: OpenRow): SpanRow {
  return row as SpanRow;
}

type SpanTimes = {
  /** The END of the span, as in the interface. */
  timestampNs: bigint;
  startNs: bigint;
  /** Seconds, never negative; undefined if unknown. */
  latency: number | undefined;
  /** Whether the stated end is before the stated start. */
  isReversed: boolean;
};

/**
 * Completes the times of a span. Stated times are kept as sent, even if clocks disagree: an end before the start gives
 * no latency, and a warning. A latency of 0, as some exporters send for a root, is replaced by end minus start.
 */
function readTimes(
  { timestamp, start_time, latency }: Pick<BodyValues, "timestamp" | "start_time" | "latency">,
  receivedNs: bigint,
): SpanTimes {
  const stated = latency === undefined ? undefined : BigInt(Math.round(latency * 1e9));
  const timestampNs = timestamp ?? (start_time === undefined ? receivedNs : clampNs(start_time + (stated ?? 0n)));
  const startNs = start_time ?? clampNs(timestampNs - (stated ?? 0n));
  const between = timestamp !== undefined && start_time !== undefined ? timestamp - start_time : undefined;
  const isReversed = between !== undefined && between < 0n;
  const computed = between === undefined || isReversed ? undefined : Number(between) / 1e9;
  const known = latency === undefined || latency === 0 ? (computed ?? latency) : latency;
  return { timestampNs, startNs, latency: known, isReversed };
}

function clampNs(ns: bigint): bigint {
  return ns < minTimeNs ? minTimeNs : ns > maxTimeNs ? maxTimeNs : ns;
}

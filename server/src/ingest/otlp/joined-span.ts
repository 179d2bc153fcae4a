import { domainLimits } from "../../domain/limits.ts";
import { spanColumns, type SpanColumn } from "../../domain/span.ts";
import { isObject, parseJsonText } from "../../lib/json.ts";
import { formatTimeNs, maxTimeNs } from "../../lib/time.ts";
import { withSystem, type Message } from "../../messages/message.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import { createNestedJson } from "../../validation/field-readers.ts";
import { ingestLimits } from "../limits.ts";
import { serviceLogMethods, placeOfField } from "../normalize/wire-fields.ts";
import { AttributeBag, asText } from "./attribute-bag.ts";
import { evaluationEvent, eventsKey, presentEvents, statusKey, statusOk } from "./collect-metadata.ts";
import type { SpanContent } from "./convention.ts";
import { contentOfEvents, isContentEvent } from "./conventions/gen-ai-events.ts";
import { withDetails } from "./details-events.ts";
import type { AttributeValue, Attributes, OtlpEvent, OtlpLogRecord } from "./export-request.ts";
import { mapSpan, placeContent, type SpanBody } from "./map-span.ts";
import { isFailureRecord, withLoggedExceptions, type Outcome } from "./outcome.ts";

/** Whether a log record of this name belongs to the span that it refers to. */
export function isJoined(name: string, record: Pick<OtlpLogRecord, "severity">): boolean {
  return isContentEvent({ name }) || name === evaluationEvent || isFailureRecord(name, record);
}

/** Completes a stored span with log records; undefined if they add nothing. */
export function completed(row: StoredSpan, events: readonly OtlpEvent[]): SpanBody | undefined {
  const body = bodyOfRow(row);
  const content = contentOf(events);
  const details = detailsBody(events);
  placeContent(details, content);
  const extra = Object.entries(details).filter(([field]) => body[field] === undefined);
  const added = {
    ...Object.fromEntries(extra),
    ...restOfPrompt(body, details),
    ...restOfChoices(body, content.completions),
  };
  const fromEvents = bodyOfEvents(body, events);
  return Object.keys(added).length === 0 && fromEvents === undefined ? undefined : { ...body, ...added, ...fromEvents };
}

/** Some spans contain only their instructions; the other messages of the prompt are in log records. */
function restOfPrompt({ prompt_messages: known }: SpanBody, { prompt_messages: fromEvents }: SpanBody): SpanBody {
  if (!areInstructions(known) || !Array.isArray(fromEvents) || areInstructions(fromEvents)) return {};
  return { prompt_messages: withSystem(fromEvents as Message[], (known as Message[])[0]) };
}

function areInstructions(messages: unknown): boolean {
  return Array.isArray(messages) && (messages as unknown[]).every((one) => isObject(one) && one["role"] === "system");
}

/**
 * Choices that arrive after others were stored are inserted at their index; a gateway call already has all its choices.
 */
function restOfChoices(body: SpanBody, fromEvents: readonly Message[] = []): SpanBody {
  const { completion_message: answer, completion_messages: all, log_method: method } = body;
  const isNumbered = fromEvents.some(({ choice }) => choice !== undefined);
  if (answer === undefined || !isNumbered || serviceLogMethods.has(asText(method) ?? "")) return {};
  const choices: unknown[] = Array.isArray(all) ? [...(all as unknown[])] : [answer];
  const known = new Set(choices.map(textOf));
  const extra = fromEvents.filter((message) => !known.has(textOf(message)));
  for (const { choice = 0, ...message } of extra.toSorted((a, b) => (a.choice ?? 0) - (b.choice ?? 0))) {
    choices.splice(choice, 0, message);
  }
  return extra.length === 0 ? {} : { completion_message: choices[0], completion_messages: choices };
}

function textOf(message: unknown): string {
  return isObject(message) ? JSON.stringify([message["content"], message["tool_calls"]]) : "";
}

/** The span created for records whose span never arrived: their messages, at their time. Undefined without messages. */
export function spanOfEvents(
  { traceId, spanId }: { traceId: string; spanId: string },
  events: readonly OtlpEvent[],
): SpanBody | undefined {
  const content = events.filter(isContentEvent);
  const [first] = content;
  if (first === undefined) return undefined;
  const { name, timeNs } = first;
  const body: SpanBody = {
    trace_unique_id: traceId,
    span_unique_id: spanId,
    log_type: "chat",
    span_name: name,
    ...(timeNs > 0n && timeNs <= maxTimeNs && { timestamp: formatTimeNs(timeNs) }),
    metadata: Object.fromEntries(content.flatMap(({ attributes }) => [...attributes].filter(isNoContent))),
  };
  placeContent(body, contentOf(content));
  return { ...body, ...bodyOfEvents(body, events) };
}

/** The fields in the details of a call, except those that the span itself provides: times, outcome and kind. */
function detailsBody(events: readonly OtlpEvent[]): SpanBody {
  const attributes = withDetails(new Map(), events);
  if (attributes.size === 0) return {};
  const ids = { traceId: "", spanId: "", parentSpanId: "", traceState: "" };
  const course = { kind: 0, startNs: 0n, endNs: 0n, status: { code: 1, message: "" } };
  const span = { ...ids, ...course, name: "", attributes, droppedAttributes: 0, events: [], links: [] };
  const scope = { name: "", version: "", attributes: new Map<string, AttributeValue>() };
  const place = { resource: new Map<string, AttributeValue>(), scope };
  const body = mapSpan(span, place, { nested: createNestedJson(domainLimits.bodyNodes) });
  return Object.fromEntries(Object.entries(body).filter(([field]) => !ofTheSpan.has(field)));
}

const ofTheSpan: ReadonlySet<string> = new Set([
  ..."trace_unique_id span_unique_id span_parent_id span_name log_type timestamp start_time latency".split(" "),
  ..."status status_code error_message metadata stream".split(" "),
]);

function contentOf(events: readonly OtlpEvent[]): SpanContent {
  return contentOfEvents(new AttributeBag(new Map(), createNestedJson(domainLimits.bodyNodes)), events);
}

function isNoContent([key]: [string, unknown]): boolean {
  return !/^(?:gen_ai\.(?:input\.messages|output\.messages|system_instructions|tool\.definitions)|content|message|tool_calls)$/.test(
    key,
  );
}

/**
 * The members of the span that events other than messages change: `metadata` with these events, and status and error if
 * one of them is an exception. Undefined if all of them are in the metadata already.
 */
function bodyOfEvents(body: SpanBody, all: readonly OtlpEvent[]): SpanBody | undefined {
  const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
  const known: unknown[] = Array.isArray(metadata[eventsKey]) ? metadata[eventsKey] : [];
  const texts = new Set(known.map((event) => JSON.stringify(event)));
  const events = presentEvents(all.filter((event) => !isContentEvent(event)));
  const extra = events.filter((event) => !texts.has(JSON.stringify(event)));
  if (extra.length === 0) return undefined;
  const bag = new AttributeBag(asAttributes(metadata), createNestedJson(domainLimits.bodyNodes));
  const own = outcomeOf(body);
  const outcome = withLoggedExceptions(own, { bag, isOk: isSettled(body, bag) }, all);
  return {
    ...(outcome !== own && outcome),
    metadata: {
      ...Object.fromEntries(bag.rest()),
      [eventsKey]: [...known, ...extra].slice(0, ingestLimits.otlpEventsPerSpan),
    },
  };
}

function outcomeOf(body: SpanBody): Outcome {
  if (body["status"] !== "failed") return { status: "success" };
  const message = asText(body["error_message"]);
  return {
    status: "error",
    ...(typeof body["status_code"] === "number" && { status_code: body["status_code"] }),
    ...(message !== undefined && { error_message: message }),
  };
}

/**
 * Whether the status was set deliberately: OpenTelemetry's OK, a word of the sender's own, or that of a gateway call.
 */
function isSettled({ status, log_method }: SpanBody, bag: AttributeBag): boolean {
  const isWord = status !== undefined && status !== "success" && status !== "failed";
  return isWord || bag.peek(statusKey) === statusOk || serviceLogMethods.has(asText(log_method) ?? "");
}

/** Metadata came as attributes, or as JSON that attributes can hold. */
function asAttributes(metadata: Record<string, unknown>): Attributes {
  return new Map(Object.entries(metadata)) as Attributes;
}

const counts = [
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "prompt_cache_hit_tokens",
  "prompt_cache_creation_tokens",
  "reasoning_tokens",
] as const;

/**
 * Converts a stored span to the body that would be stored as the same row, so that it can be completed and accepted
 * again.
 */
export function bodyOfRow(row: StoredSpan): SpanBody {
  const extra = objectIn(row.extra);
  const body: SpanBody = {
    timestamp: row.timestamp,
    start_time: row.start_time,
    status: row.status,
    status_code: row.status_code,
    metadata: { ...objectIn(row.metadata), ...objectIn(row.metadata_reserved) },
    usage_details: isObject(extra["usage_details"]) ? extra["usage_details"] : undefined,
  };
  for (const [field, place] of placeOfField) {
    const value = place === "extra" ? extra[field] : columnValue(row, field as SpanColumn);
    if (value !== undefined && value !== null && value !== "") body[field] = value;
  }
  for (const count of counts) if (row[count] !== null && row[count] !== undefined) body[count] = row[count];
  // Content that the sender omitted stays omitted.
  if (extra["is_log_omitted"] === true) body["disable_log"] = true;
  // A computed cost is computed again.
  if (row.cost_source === "stated") body["cost"] = row.cost;
  return body;
}

function columnValue(row: StoredSpan, column: SpanColumn): unknown {
  const value = row[column];
  return spanColumns[column] === "json" && typeof value === "string" ? jsonIn(value) : value;
}

function jsonIn(text: string): unknown {
  if (text === "") return undefined;
  const parsed = parseJsonText(text);
  return parsed.ok ? parsed.value : undefined;
}

function objectIn(text: string | undefined): Record<string, unknown> {
  const value = jsonIn(text ?? "");
  return isObject(value) ? value : {};
}

import { isObject } from "../../lib/json.ts";
import { formatTimeNs, maxTimeNs } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import { createNestedJson } from "../nested-json.ts";
import { serviceLogMethods } from "../wire-fields.ts";
import { AttributeBag, asText } from "./attribute-bag.ts";
import { bodyOfRow } from "./body-of-row.ts";
import { contentOfEvents, isContentEvent } from "./conventions/gen-ai-events.ts";
import { evaluationEvent } from "./evaluation-events.ts";
import type { Attributes, OtlpEvent, OtlpLogRecord } from "./export-request.ts";
import { eventsKey, presentEvents, statusKey, statusOk } from "./gather-metadata.ts";
import { placeContent, type SpanBody } from "./map-span.ts";
import { isFailureRecord, withLoggedExceptions, type Outcome } from "./outcome.ts";

/** Whether a log record of this name tells something of the span that it names. */
export function isJoined(name: string, record: Pick<OtlpLogRecord, "severity">): boolean {
  return isContentEvent({ name }) || name === evaluationEvent || isFailureRecord(name, record);
}

/** A stored span with what log records say of it; undefined where it knows all of that already. */
export function completed(row: StoredSpan, events: readonly OtlpEvent[]): SpanBody | undefined {
  const body = bodyOfRow(row);
  const said = Object.entries(contentBody(events)).filter(([field]) => body[field] === undefined);
  const told = toldOf(body, events);
  return said.length === 0 && told === undefined ? undefined : { ...body, ...Object.fromEntries(said), ...told };
}

/** What is left of a span that never came: its messages, at the time they were said. Without any, nothing. */
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
    ...contentBody(content),
  };
  return { ...body, ...toldOf(body, events) };
}

function contentBody(events: readonly OtlpEvent[]): SpanBody {
  const body: SpanBody = {};
  placeContent(body, contentOfEvents(new AttributeBag(new Map(), createNestedJson(limits.bodyNodes)), events));
  return body;
}

function isNoContent([key]: [string, unknown]): boolean {
  return !/^(?:gen_ai\.(?:input\.messages|output\.messages|system_instructions|tool\.definitions)|content|message|tool_calls)$/.test(
    key,
  );
}

/** Events that are no messages, where an export would have had them on the span, and how it went by them; undefined where nothing is new. */
function toldOf(body: SpanBody, all: readonly OtlpEvent[]): SpanBody | undefined {
  const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
  const known: unknown[] = Array.isArray(metadata[eventsKey]) ? metadata[eventsKey] : [];
  const texts = new Set(known.map((event) => JSON.stringify(event)));
  const events = presentEvents(all.filter((event) => !isContentEvent(event)));
  const news = events.filter((event) => !texts.has(JSON.stringify(event)));
  if (news.length === 0) return undefined;
  const bag = new AttributeBag(asAttributes(metadata), createNestedJson(limits.bodyNodes));
  const own = outcomeOf(body);
  const outcome = withLoggedExceptions(own, { bag, isOk: isSettled(body, bag) }, all);
  return {
    ...(outcome !== own && outcome),
    metadata: {
      ...Object.fromEntries(bag.rest()),
      [eventsKey]: [...known, ...news].slice(0, limits.otlpEventsPerSpan),
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

/** A status that somebody chose: OpenTelemetry's OK, a word of their own, or how a call of the gateway went. */
function isSettled({ status, log_method }: SpanBody, bag: AttributeBag): boolean {
  const isWord = status !== undefined && status !== "success" && status !== "failed";
  return isWord || bag.peek(statusKey) === statusOk || serviceLogMethods.has(asText(log_method) ?? "");
}

/** Metadata came as attributes, or as the JSON that those can hold. */
function asAttributes(metadata: Record<string, unknown>): Attributes {
  return new Map(Object.entries(metadata)) as Attributes;
}

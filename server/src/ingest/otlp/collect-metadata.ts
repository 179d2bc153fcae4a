import { isObject, isRawNumber, parseJsonText } from "../../lib/json.ts";
import { formatTimeNs } from "../../lib/time.ts";
import { ingestLimits } from "../limits.ts";
import { asText, type AttributeBag } from "./attribute-bag.ts";
import type { Convention, SpanView } from "./convention.ts";
import type { Attributes, OtlpEvent, OtlpScope } from "./export-request.ts";
import { isModelCall } from "./log-type.ts";
import { wordIn } from "../../messages/json-word.ts";
import { statusKeys } from "./outcome.ts";
import { createRecordedValues, type RecordedValues } from "./remainder.ts";
import { pieceEvent } from "./time-to-first-token.ts";

/** A map, so that `__proto__` is an ordinary key. */
export type Metadata = Map<string, unknown>;

type Body = Readonly<Record<string, unknown>>;

/** The first value gets the key. A different one gets the second key, if there is one. */
export function addMetadata(into: Metadata, key: string, value: unknown, otherwise?: string): void {
  if (!into.has(key)) into.set(key, value);
  else if (otherwise !== undefined && !into.has(otherwise) && !isSame(into.get(key), value)) into.set(otherwise, value);
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** The remaining events of a span. */
export const eventsKey = "otel.events";
/** https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md */
export const evaluationEvent = "gen_ai.evaluation.result";
/** Kept if the status is OK, which "success" does not express: most spans leave the status unset. */
export const statusKey = "otel.status_code";
export const statusOk = "OK";

const tagKeys = [
  "langfuse.trace.tags",
  "langfuse.tags",
  "tag.tags",
  "ai.telemetry.metadata.tags",
  "mastra.tags",
  "langsmith.span.tags",
  "logfire.tags",
  "lmnr.association.properties.tags",
  "traceloop.association.properties.tags",
  "langchain.tags",
];

/** Moves the user's own metadata from a convention's attributes to its own keys. The first value wins. */
export function liftMetadata(bag: AttributeBag, convention: Convention, into: Metadata): void {
  for (const key of convention.metadataObjects ?? []) {
    const object = bag.peekTree(key);
    if (!isObject(object)) continue;
    bag.drop(key);
    for (const [name, value] of Object.entries(object)) addMetadata(into, name, value);
  }
  for (const prefix of convention.metadataPrefixes ?? []) {
    const values = bag.takePrefix(prefix);
    const isJson = convention.metadataIsJson === true || areEncoded([...values.values()]);
    const parse = (value: unknown): unknown => (isJson ? parseScalar(bag, value) : bag.parsed(value));
    for (const [name, value] of values) {
      if (name === "tags") addMetadata(into, "tags", tagsOf(bag, value));
      else addMetadata(into, name, parse(value));
    }
  }
}

/** Whether an SDK encodes every value as JSON text: all values are JSON, and at least one is a text in quotes. */
function areEncoded(values: readonly unknown[]): boolean {
  const texts = values.filter((value) => typeof value === "string");
  return texts.some((text) => wordIn(text) !== text) && texts.every((text) => parseJsonText(text).ok);
}

/**
 * The user's metadata, then every attribute that no convention took, or that has no place, then events, resource and
 * scope. Empty values, and values that only repeat a field, are left out here, and nowhere else.
 */
export function collectMetadata(
  { bag, span, events: all }: SpanView,
  { resource, scope }: { resource: Attributes; scope: OtlpScope },
  { metadata: own, body, taken }: { metadata: Metadata; body: Body; taken: readonly OtlpEvent[] },
): Record<string, unknown> {
  for (const key of tagKeys) {
    if (!bag.has(key)) continue;
    addMetadata(own, "tags", tagsOf(bag, bag.peek(key)), key);
    bag.accept(key);
  }
  for (const [key, value] of bag.rest()) {
    const isJunk = saysNothing(value) || isVector(bag, key, value) || repeatsContent(value, body);
    if (!isJunk) addMetadata(own, key, value, `otel.attributes.${key}`);
  }
  dropRepeats(own, body);
  const recorded = recordedIn(bag, own, body);
  addRemainders(bag, own, recorded);
  const events = [...all.filter((event) => !isChunk(event)), ...remaindersOf(taken, recorded)];
  if (events.length > 0) addMetadata(own, eventsKey, presentEvents(events));
  for (const [key, value] of resource) addMetadata(own, key, value, `otel.resource.${key}`);
  if (scope.name !== "") addMetadata(own, "otel.scope.name", scope.name);
  if (scope.version !== "") addMetadata(own, "otel.scope.version", scope.version);
  for (const [key, value] of scope.attributes) addMetadata(own, `otel.scope.${key}`, value);
  if (span.kind > 1) addMetadata(own, "otel.span.kind", kinds[span.kind] ?? span.kind);
  if (span.status.code === 1) addMetadata(own, statusKey, statusOk);
  if (span.traceState !== "") addMetadata(own, "otel.trace_state", span.traceState);
  if (span.droppedAttributes > 0) addMetadata(own, "otel.dropped_attributes_count", span.droppedAttributes);
  for (const [key, value] of own) if (isEmpty(value)) own.delete(key);
  return Object.fromEntries(own);
}

/** Log type and status are excluded: these words occur in other values by chance. */
function recordedIn(bag: AttributeBag, metadata: Metadata, all: Body): RecordedValues {
  const { log_type: kind, status: _status, ...body } = all;
  const isCounted = (body["prompt_tokens"] ?? body["completion_tokens"] ?? body["total_tokens"]) !== undefined;
  // Spans other than calls repeat the counts of the calls below them.
  const hasCounts = isCounted || !isModelCall(kind);
  return createRecordedValues({ body, metadata }, { parse: (value) => bag.parsed(value), hasCounts });
}

/** Whether a text repeats the input or the output. Short texts may be equal by chance. */
function repeatsContent(value: unknown, { input, output }: Body): boolean {
  return typeof value === "string" && value.length >= contentChars && (value === input || value === output);
}

const contentChars = 12;

/** Keys that no convention takes, and that are redundant if they equal a field. */
const repeats: ReadonlyArray<readonly [field: string, keys: readonly string[]]> = [
  ["status_code", statusKeys],
  ["provider_id", ["ls_provider"]],
  ["model", ["ls_model_name"]],
  ["temperature", ["ls_temperature"]],
  ["max_tokens", ["ls_max_tokens"]],
];

function dropRepeats(own: Metadata, body: Body): void {
  for (const [field, keys] of repeats) {
    for (const key of keys) {
      if (!own.has(key)) continue;
      const value = field === "status_code" ? (body[field] ?? 200) : body[field];
      if (asText(own.get(key)) === asText(value)) own.delete(key);
    }
  }
}

/** Adds taken values that are found nowhere else, so that nothing sent is lost because a convention misread it. */
function addRemainders(bag: AttributeBag, own: Metadata, recorded: RecordedValues): void {
  for (const [key, value] of bag.taken()) {
    const left = isVector(bag, key, value) ? undefined : recorded.remainder(key, value);
    if (left === undefined) continue;
    recorded.add(key, left);
    const there = own.get(key);
    if (isObject(there) && isObject(left)) own.set(key, { ...left, ...there });
    else addMetadata(own, key, left, `otel.attributes.${key}`);
  }
}

/** Events whose messages were taken, with those of their attributes that are found nowhere else. */
function remaindersOf(taken: readonly OtlpEvent[], recorded: RecordedValues): OtlpEvent[] {
  return taken.flatMap((event) => {
    if (isChunk(event)) return [];
    const left = recorded.remainder(event.name, Object.fromEntries(event.attributes));
    return isObject(left) ? [{ ...event, attributes: new Map(Object.entries(left)) as Attributes }] : [];
  });
}

/** Events of each piece of a stream: the response contains them all. */
const chunkEvent = /(?:completion|content)\.chunk$/;

function isChunk({ name, attributes }: OtlpEvent): boolean {
  return chunkEvent.test(name) || (pieceEvent.test(name) && attributes.size === 0);
}

/** Embedding vectors, which are of no use here: a list of numbers, or of such lists, each possibly as JSON text. */
function isVector(bag: AttributeBag, key: string, value: unknown): boolean {
  if (!/(?:embeddings?|vector)$/.test(key)) return false;
  const isNumbers = (given: unknown): boolean => {
    const list = bag.parsed(given);
    return Array.isArray(list) && (list as unknown[]).every((item) => typeof item === "number" || isNumbers(item));
  };
  return isNumbers(value);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (typeof value !== "object") return false;
  return Array.isArray(value) ? value.length === 0 : !isRawNumber(value) && Object.keys(value).length === 0;
}

/** Texts that exporters write for missing values. */
const noTexts: ReadonlySet<unknown> = new Set(["None", "null", "undefined", "[]", "{}", "NOT_GIVEN"]);

function saysNothing(value: unknown): boolean {
  return isEmpty(value) || noTexts.has(value);
}

const kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"];

/** Events in the form of metadata, limited to the maximum per span. */
export function presentEvents(events: readonly OtlpEvent[]): Array<Record<string, unknown>> {
  return events.slice(0, ingestLimits.otlpEventsPerSpan).map(presentEvent);
}

function presentEvent({ name, timeNs, attributes }: OtlpEvent): Record<string, unknown> {
  return {
    name,
    ...(timeNs > 0n && { time: formatTimeNs(timeNs) }),
    ...(attributes.size > 0 && { attributes: Object.fromEntries(attributes) }),
  };
}

/** A list, JSON text of a list, or text with commas. */
function tagsOf(bag: AttributeBag, given: unknown): unknown {
  const parsed = bag.parsed(given);
  if (typeof parsed !== "string") return parsed;
  return parsed.split(",").map((tag) => tag.trim());
}

/** JSON text of any value, as some SDKs encode every value: `"\"pro\""`, `"3"`. */
function parseScalar(bag: AttributeBag, value: unknown): unknown {
  if (typeof value !== "string" || !/^(?:"|-?\d|true$|false$|null$)/.test(value)) return bag.parsed(value);
  try {
    const parsed = JSON.parse(value) as unknown;
    return typeof parsed === "number" && !Number.isSafeInteger(parsed) && Number.isInteger(parsed) ? value : parsed;
  } catch {
    return value;
  }
}

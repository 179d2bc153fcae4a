import { isObject } from "../../lib/json.ts";
import { formatTimeNs } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AttributeBag } from "./attribute-bag.ts";
import type { Convention, SpanView } from "./convention.ts";
import type { Attributes, OtlpEvent, OtlpScope } from "./export-request.ts";

/** By key, the first value wins; a map, so that `__proto__` is a key like any other. */
export type Metadata = Map<string, unknown>;

export function addMetadata(into: Metadata, key: string, value: unknown): void {
  if (!into.has(key)) into.set(key, value);
}

/** What is left of a span's events. */
export const eventsKey = "otel.events";
/** Kept where the status says that all is well, which "success" does not tell: most spans leave it unset. */
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
];

/** Moves the user's own metadata from where a convention keeps it to its own keys. The first one wins. */
export function liftMetadata(bag: AttributeBag, convention: Convention, into: Metadata): void {
  const isJson = convention.metadataIsJson === true;
  const parse = (value: unknown): unknown => (isJson ? parseScalar(bag, value) : bag.parsed(value));
  for (const key of convention.metadataObjects ?? []) {
    const object = bag.peekTree(key);
    if (!isObject(object)) continue;
    bag.drop(key);
    for (const [name, value] of Object.entries(object)) addMetadata(into, name, value);
  }
  for (const prefix of convention.metadataPrefixes ?? []) {
    for (const [name, value] of bag.takePrefix(prefix)) {
      if (name === "tags") addMetadata(into, "tags", tagsOf(bag, value));
      else addMetadata(into, name, parse(value));
    }
  }
}

/** The user's metadata, then every attribute that nobody took, then events, resource and scope. */
export function gatherMetadata(
  { bag, span, events }: SpanView,
  { resource, scope }: { resource: Attributes; scope: OtlpScope },
  own: Metadata,
): Record<string, unknown> {
  const tags = bag.takeAny(...tagKeys);
  if (tags !== undefined) addMetadata(own, "tags", tagsOf(bag, tags));
  for (const [key, value] of bag.rest()) addMetadata(own, key, value);
  if (events.length > 0) addMetadata(own, eventsKey, presentEvents(events));
  for (const [key, value] of resource) addMetadata(own, key, value);
  if (scope.name !== "") addMetadata(own, "otel.scope.name", scope.name);
  if (scope.version !== "") addMetadata(own, "otel.scope.version", scope.version);
  for (const [key, value] of scope.attributes) addMetadata(own, `otel.scope.${key}`, value);
  if (span.kind > 1) addMetadata(own, "otel.span.kind", kinds[span.kind] ?? span.kind);
  if (span.status.code === 1) addMetadata(own, statusKey, statusOk);
  if (span.traceState !== "") addMetadata(own, "otel.trace_state", span.traceState);
  if (span.droppedAttributes > 0) addMetadata(own, "otel.dropped_attributes_count", span.droppedAttributes);
  return Object.fromEntries(own);
}

const kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"];

/** Events as metadata holds them, no more than a span may have. */
export function presentEvents(events: readonly OtlpEvent[]): Array<Record<string, unknown>> {
  return events.slice(0, limits.otlpEventsPerSpan).map(presentEvent);
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

/** JSON text of anything, as some SDKs write every value: `"\"pro\""`, `"3"`. */
function parseScalar(bag: AttributeBag, value: unknown): unknown {
  if (typeof value !== "string" || !/^(?:"|-?\d|true$|false$|null$)/.test(value)) return bag.parsed(value);
  try {
    const parsed = JSON.parse(value) as unknown;
    return typeof parsed === "number" && !Number.isSafeInteger(parsed) && Number.isInteger(parsed) ? value : parsed;
  } catch {
    return value;
  }
}

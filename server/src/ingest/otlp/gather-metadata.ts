import { isObject } from "../../lib/json.ts";
import { formatTimeNs } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AttributeBag } from "./attribute-bag.ts";
import type { Convention, SpanView } from "./convention.ts";
import type { Attributes, OtlpEvent, OtlpScope } from "./export-request.ts";

/** Without a prototype, so that `__proto__` is a key like any other. */
export type Metadata = Record<string, unknown>;

const tagKeys = [
  "langfuse.trace.tags",
  "langfuse.tags",
  "tag.tags",
  "ai.telemetry.metadata.tags",
  "mastra.tags",
  "langsmith.span.tags",
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
    for (const [name, value] of Object.entries(object)) into[name] ??= value;
  }
  for (const prefix of convention.metadataPrefixes ?? []) {
    for (const [name, value] of bag.takePrefix(prefix)) {
      if (name === "tags") into["tags"] ??= tagsOf(bag, value);
      else into[name] ??= parse(value);
    }
  }
}

/** The user's metadata, then every attribute that nobody took, then events, resource and scope. */
export function gatherMetadata(
  { bag, span, events }: SpanView,
  { resource, scope }: { resource: Attributes; scope: OtlpScope },
  own: Metadata,
): Metadata {
  const tags = bag.takeAny(...tagKeys);
  if (tags !== undefined) own["tags"] ??= tagsOf(bag, tags);
  for (const [key, value] of bag.rest()) own[key] ??= value;
  if (events.length > 0) own["otel.events"] ??= events.slice(0, limits.otlpEventsPerSpan).map(presentEvent);
  for (const [key, value] of resource) own[key] ??= value;
  if (scope.name !== "") own["otel.scope.name"] ??= scope.name;
  if (scope.version !== "") own["otel.scope.version"] ??= scope.version;
  for (const [key, value] of scope.attributes) own[`otel.scope.${key}`] ??= value;
  if (span.kind > 1) own["otel.span.kind"] ??= kinds[span.kind] ?? span.kind;
  if (span.traceState !== "") own["otel.trace_state"] ??= span.traceState;
  if (span.droppedAttributes > 0) own["otel.dropped_attributes_count"] ??= span.droppedAttributes;
  return own;
}

const kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"];

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

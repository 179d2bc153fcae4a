import { domainLimits } from "../../domain/limits.ts";
import { createNestedJson } from "../../validation/field-readers.ts";
import type { AttributeValue, Attributes, OtlpEvent, OtlpSpan } from "./export-request.ts";
import { mapSpan, type SpanBody } from "./map-span.ts";

export type Given = {
  name?: string;
  scope?: string;
  parent?: string;
  events?: OtlpEvent[];
  status?: OtlpSpan["status"];
};

/** Maps one span; removes from `metadata` what scope and resource add. */
export function mapped(attributes: Record<string, unknown>, given: Given = {}): SpanBody {
  const span: OtlpSpan = {
    traceId: "a".repeat(32),
    spanId: "b".repeat(16),
    parentSpanId: given.parent ?? "c".repeat(16),
    traceState: "",
    name: given.name ?? "span",
    kind: 1,
    startNs: 1_700_000_000_000_000_000n,
    endNs: 1_700_000_001_000_000_000n,
    attributes: new Map(Object.entries(attributes)) as Attributes,
    droppedAttributes: 0,
    events: given.events ?? [],
    links: [],
    status: given.status ?? { code: 0, message: "" },
  };
  const scope = { name: given.scope ?? "", version: "", attributes: new Map<string, AttributeValue>() };
  const body = mapSpan(span, { resource: new Map(), scope }, { nested: createNestedJson(domainLimits.bodyNodes) });
  const { scope_name: _scopeName, metadata: all, ...rest } = body;
  const { "otel.scope.name": _scope, ...metadata } = all as Record<string, unknown>;
  return { ...rest, metadata };
}

export const user = (content: string) => ({ role: "user", content });
export const assistant = (content: string) => ({ role: "assistant", content });
export const system = (content: string) => ({ role: "system", content });
export const weatherCall = (id?: string) => ({
  ...(id !== undefined && { id }),
  type: "function",
  function: { name: "get_weather", arguments: '{"city":"Paris"}' },
});
export const tool = (parameters: unknown = { type: "object" }) => ({
  type: "function",
  function: { name: "get_weather", description: "Weather", parameters },
});
export const json = (value: unknown): string => JSON.stringify(value);

import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { domainLimits } from "../../src/domain/limits.ts";
import { createNestedJson } from "../../src/validation/field-readers.ts";
import { decodeJsonTraces } from "../../src/ingest/otlp/decode-json.ts";
import { decodeProtobufTraces } from "../../src/ingest/otlp/decode-protobuf.ts";
import type { ExportRequest, OtlpSpan } from "../../src/ingest/otlp/export-request.ts";
import { mapSpan } from "../../src/ingest/otlp/map-span.ts";
import { jsonOfPython } from "../../src/ingest/otlp/python-text.ts";
import { isObject } from "../../src/lib/json.ts";
import { fixture, fixtureNames } from "../support/otlp.ts";
import { pythonCaptures } from "../support/otlp-python.ts";

/** Invariants for every capture, of any SDK. */
const sent = new Map<string, ExportRequest<OtlpSpan>>();
for (const name of fixtureNames("captures").filter((file) => file.includes(".traces."))) {
  const { body, headers } = fixture("captures", name);
  const bytes = headers["content-encoding"] === undefined ? Buffer.from(body) : gunzipSync(body);
  sent.set(name, name.includes(".json") ? decodeJsonTraces(bytes) : decodeProtobufTraces(bytes));
}
for (const { file, contentType, body } of [...pythonCaptures().values()].flat()) {
  if (!file.includes("-traces.")) continue;
  const decode = contentType.includes("json") ? decodeJsonTraces : decodeProtobufTraces;
  sent.set(file, decode(Buffer.from(body)));
}

type Mapped = { span: OtlpSpan; body: Record<string, unknown>; metadata: Record<string, unknown> };

function mappedSpans(request: ExportRequest<OtlpSpan>): Mapped[] {
  const nested = createNestedJson(domainLimits.bodyNodes);
  return request.groups.flatMap(({ resource, scope, items }) =>
    items.map((span) => {
      const body = mapSpan(span, { resource, scope }, { nested });
      const { metadata } = body;
      return { span, body, metadata: isObject(metadata) ? metadata : {} };
    }),
  );
}

describe.each([...sent])("%s", (_name, request) => {
  const spans = mappedSpans(request);

  test("S1: every text of every attribute is in a field or in metadata", () => {
    const lost = spans.flatMap(({ span, body }) => {
      const all = bare(JSON.stringify(body, (_key, value: unknown) => (typeof value === "bigint" ? "" : value)));
      return [...span.attributes].flatMap(([key, value]) =>
        textsIn(value)
          .filter((text) => !all.includes(bare(text)) && !isForm(text))
          .map((text) => `${key}: ${text}`),
      );
    });
    // The form of other attributes, times that became durations, and counts in Python's own text.
    expect(
      lost.filter(
        (text) =>
          !/^(?:logfire\.json_schema|metadata\.usage_object|gen_ai\.event\.(?:start|end)_time|[\w.]*completion_start_time):/.test(
            text,
          ),
      ),
    ).toEqual([]);
  });

  test("S14: metadata has no empty values, no event for each chunk, and no content that a field has", () => {
    const junk = spans.flatMap(({ body, metadata }) => {
      const texts = new Set([body["input"], body["output"], body["error_message"], ...contentsOf(body)].filter(isLong));
      return Object.entries(metadata).filter(
        ([key, value]) =>
          value === null ||
          value === "" ||
          (typeof value === "object" && Object.keys(value).length === 0) ||
          // The error type distinguishes more exceptions.
          (texts.has(value) && key !== "error.type") ||
          (Array.isArray(value) && (value as unknown[]).some(isChunk)),
      );
    });
    expect(junk).toEqual([]);
  });
});

function isChunk(event: unknown): boolean {
  return isObject(event) && typeof event["name"] === "string" && event["name"].endsWith(".chunk");
}

/** Removes quotes and escapes, however often a text was nested in another. */
function bare(text: string): string {
  return text.replaceAll(/\\+(?:n|t|r)|[\\"'\s]/g, "");
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") {
    const tree = /^\s*[[{]/.test(value) ? parsed(jsonOfPython(value) ?? value) : undefined;
    return tree === undefined ? [value] : textsIn(tree);
  }
  if (Array.isArray(value)) return (value as unknown[]).flatMap(textsIn);
  if (!isObject(value)) return [];
  // Members of a provider's own responses: ids, how they ended, what they ran on.
  const ofAnswers = /^(?:id|finish_reason|stop_reason|status|object|system_fingerprint|service_tier)$/;
  const members = Object.entries(value).filter(([name]) => !ofAnswers.test(name));
  return members.flatMap(([, member]) => textsIn(member));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Names of roles and types, for which OpenAI has others. */
function isForm(text: string): boolean {
  return /^(?:|\s+|None|null|[\w.-]{1,30}|application\/json|text\/plain)$/.test(text) && !/\d/.test(text);
}

function contentsOf(body: Record<string, unknown>): unknown[] {
  const messages = [body["prompt_messages"], body["completion_message"]].flat();
  return messages.map((message) => (isObject(message) ? message["content"] : undefined));
}

function isLong(value: unknown): boolean {
  return typeof value === "string" && value.length > 12;
}

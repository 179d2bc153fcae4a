import * as fc from "fast-check";
import { expect, test } from "vitest";
import { domainLimits } from "../../domain/limits.ts";
import { createPriceBook } from "../../pricing/price-book.ts";
import { createNestedJson } from "../../validation/field-readers.ts";
import { normalizeSpan } from "../normalize/normalize.ts";
import { wireFields } from "../normalize/wire-fields.ts";
import { conventions } from "./conventions/list.ts";
import type { AttributeValue, OtlpEvent, OtlpSpan } from "./export-request.ts";
import { mapped } from "./map-span.fixture.ts";
import { mapSpan } from "./map-span.ts";

/** Every key in a table, and those that only code reads. */
const knownKeys = [
  ...conventions.flatMap(({ fields, usage, cost, costParts, metadataObjects, metadataPrefixes }) => [
    ...Object.values(fields ?? {}).flat(),
    ...(typeof usage === "object" ? Object.values(usage).flat() : []),
    ...(cost ?? []),
    ...(costParts ?? []),
    ...(metadataObjects ?? []),
    ...(metadataPrefixes ?? []).map((prefix) => `${prefix}key`),
  ]),
  "gen_ai.operation.name",
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.system_instructions",
  "gen_ai.tool.definitions",
  "gen_ai.tool.call.arguments",
  "gen_ai.prompt",
  "gen_ai.prompt.0.role",
  "gen_ai.prompt.0.content",
  "gen_ai.prompt.0.tool_calls.0.name",
  "gen_ai.completion.99999999999.content",
  "llm.input_messages.0.message.role",
  "llm.input_messages.0.message.content",
  "llm.input_messages.0.message.contents.0.message_content.type",
  "llm.input_messages.0.message.contents.0.message_content.text",
  "llm.output_messages.0.message.tool_calls.0.tool_call.function.name",
  "llm.tools.0.tool.json_schema",
  "llm.invocation_parameters",
  "openinference.span.kind",
  "input.value",
  "output.value",
  "ai.operationId",
  "ai.prompt",
  "ai.prompt.messages",
  "ai.prompt.tools",
  "ai.response.text",
  "ai.response.toolCalls",
  "ai.response.providerMetadata",
  "ai.usage.inputTokens",
  "ai.usage.outputTokens",
  "ai.usage.cachedInputTokens",
  "ai.usage.reasoningTokens",
  "ai.usage.totalTokens",
  "ai.values",
  "langfuse.observation.type",
  "langfuse.observation.input",
  "langfuse.observation.output",
  "langfuse.observation.usage_details",
  "langfuse.observation.cost_details",
  "langfuse.observation.model.parameters",
  "langfuse.observation.completion_start_time",
  "lmnr.span.input",
  "lmnr.span.path",
  "genkit:input",
  "genkit:output",
  "genkit:metadata:subtype",
  "gcp.vertex.agent.llm_request",
  "gcp.vertex.agent.llm_response",
  "mastra.span.type",
  "mastra.metadata.modelMetadata",
  "mlflow.spanInputs",
  "mlflow.spanOutputs",
  "mlflow.chat.tokenUsage",
  "pydantic_ai.all_messages",
  "events",
  "langsmith.usage_metadata",
  "lk.chat_ctx",
  "tag.tags",
  "gen_ai.completion",
  "gen_ai.task.input",
  "llm.prompts",
  "llm.choices.0.completion.text",
  "retrieval.documents.0.document.content",
  "reranker.input_documents.0.document.score",
  "embedding.invocation_parameters",
  "langsmith.span.kind",
  "langsmith.metadata.invocation_params",
  "request_data",
  "response_data",
  "response",
  "final_result",
  "mlflow.spanType",
  "mlflow.llm.cost",
  "ai.response.files",
  "ai.documents",
  "gcp.vertex.agent.data",
  "llm.openai.messages",
  "system_prompt",
  "error.type",
  "http.response.status_code",
  "input",
  "output",
  "model",
  "__proto__",
  "constructor",
];

/** Other keys that code reads, from the bag or from a family of keys. */
const readByCode = [
  "gen_ai.prompt.0.tool_calls",
  "gen_ai.prompt.0.tool_calls.0.unknown",
  "gen_ai.prompt.1.unknown",
  "gen_ai.completion.0.content",
  "gen_ai.completion.0.tool_calls",
  "gen_ai.completion.0.finish_reason",
  "gen_ai.usage.raw",
  "llm.request.functions",
  "llm.request.functions.0.name",
  "llm.request.functions.0.unknown",
  "llm.input_messages.0.unknown",
  "llm.output_messages.0.message.contents.0.unknown",
  "llm.tools.0.unknown",
  "traceloop.entity.name",
  "traceloop.entity.input",
  "traceloop.entity.output",
  "traceloop.workflow.name",
  "traceloop.association.properties.tags",
  "genkit:name",
  "lmnr.span.output",
  "gen_ai.tool.call.result",
  "gen_ai.usage.input_token_details",
  "ai.usage.promptTokens",
  "ai.usage.inputTokenDetails.noCacheTokens",
  "ai.response.object",
  "ai.value",
  "ai.ranking",
  "ai.prompt.format",
  "operation.name",
  "input.mime_type",
  "output.mime_type",
  "model_request_parameters",
  "tool_response",
  "llm.bedrock.messages",
  "mlflow.chat.tools",
  "mlflow.chat.tokenUsage",
  "name",
  "status_code",
  "error.message",
  "exception.message",
  "ttft_ms",
];

const words = fc.constantFrom(
  "chat",
  "LLM",
  "generation",
  "model",
  "retriever",
  '"CHAT_MODEL"',
  '"\\u00"',
  "ai.toolCall",
  "user",
  "null",
  "",
  "-1",
  "NaN",
  "1e400",
);
const message = fc.record(
  {
    role: fc.oneof(words, fc.integer()),
    content: fc.jsonValue(),
    parts: fc.jsonValue(),
    tool_calls: fc.jsonValue(),
    type: words,
  },
  { requiredKeys: [] },
);
const someJson = fc.oneof(fc.jsonValue(), fc.array(message), fc.record({ messages: fc.array(message) }), message);
const value: fc.Arbitrary<unknown> = fc.oneof(
  words,
  fc.string({ unit: "binary" }).map((text) => text.toWellFormed()),
  someJson.map((json) => JSON.stringify(json)),
  someJson,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, 1, 1.5, -3, 1e12, 1e15, 1e300, 2 ** 31),
  fc.boolean(),
  fc.constant(null),
);
const attributes = fc
  .array(fc.tuple(fc.constantFrom(...knownKeys), value), { maxLength: 60 })
  .map((pairs) => new Map(pairs) as Map<string, AttributeValue>);
const event: fc.Arbitrary<OtlpEvent> = fc.record({
  name: fc.constantFrom(
    "exception",
    "gen_ai.choice",
    "gen_ai.user.message",
    "gen_ai.client.inference.operation.details",
    "other",
  ),
  timeNs: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  attributes: fc
    .array(
      fc.tuple(
        fc.constantFrom("content", "message", "role", "id", "gen_ai.input.messages", "exception.message"),
        value,
      ),
    )
    .map((pairs) => new Map(pairs) as Map<string, AttributeValue>),
});
const span: fc.Arbitrary<OtlpSpan> = fc.record({
  traceId: fc.constant("a".repeat(32)),
  spanId: fc.constant("b".repeat(16)),
  parentSpanId: fc.constantFrom("", "c".repeat(16)),
  traceState: fc.string(),
  name: fc.string({ maxLength: 3000, size: "max" }),
  kind: fc.nat(9),
  startNs: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  endNs: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  attributes,
  droppedAttributes: fc.nat(),
  events: fc.array(event, { maxLength: 4 }),
  links: fc.constant([]),
  status: fc.record({ code: fc.nat(3), message: fc.string() }),
});
const scopeNames = fc.constantFrom(
  "",
  "strands-agents",
  "livekit-agents",
  "com.anthropic.claude_code.tracing",
  "codex_exec",
  "pydantic-ai",
  "logfire.openai_agents",
  "gemini-cli",
  "litellm",
);

test("every span is stored: no attribute causes a refusal, and no unknown attribute is lost", () => {
  const prices = createPriceBook({ maxModels: 100 });
  const origin = {
    organization_id: "o",
    environment: "prod" as const,
    organization_key_id: "k",
    organization_key_name: "k",
    log_method: "tracing_integration",
  };
  fc.assert(
    fc.property(span, scopeNames, (given, name) => {
      const nested = createNestedJson(domainLimits.bodyNodes);
      const scope = { name, version: "", attributes: new Map<string, AttributeValue>() };
      const body = mapSpan(given, { resource: new Map(), scope }, { nested });
      const result = normalizeSpan(body, origin, { receivedNs: 1n, prices, nested });
      expect(result).toMatchObject({ ok: true });
      const row = result.ok ? result.span.row : undefined;
      expect(() => JSON.parse(JSON.stringify(row)) as unknown).not.toThrow();
      // An attribute unknown to every convention is in metadata, unless it is empty.
      const unknown = given.attributes.get("constructor");
      const isKept = typeof unknown !== "number" || Object.hasOwn(row?.metadata as object, "constructor");
      expect(isKept).toBe(true);
    }),
    { numRuns: 1000 },
  );
  expect(Object.keys(Object.prototype)).toEqual([]);
});

/** Every text in it is unique, and none is a known word. */
const anyShape = (mark: () => string): Array<() => unknown> => {
  const message = (): unknown => ({ role: "user", content: mark(), [mark()]: mark() });
  const call = (): unknown => ({ id: mark(), type: "function", function: { name: mark(), arguments: mark() } });
  return [
    mark,
    () => [mark(), mark()],
    () => ({ [`x${mark()}`]: mark(), deep: [{ deeper: mark() }] }),
    () => [message(), { type: mark(), other: mark() }],
    () => ({ messages: [message()], model: mark(), tools: [{ name: mark(), made_up: mark() }], temperature: mark() }),
    () => ({ choices: [{ message: message(), made_up: mark() }], usage: { made_up: mark() }, output: mark() }),
    () => ({ input: mark(), args: [mark()], kwargs: { city: mark() } }),
    () => [{ role: "assistant", content: [{ type: "text", text: mark() }, call()], tool_calls: [call(), mark()] }],
    () => ({ input_tokens: mark(), total: mark(), total_cost: mark(), prompt: [message(), mark()] }),
    () => [[{ role: "tool", tool_call_id: mark(), content: { result: mark() } }]],
  ];
};

test("S1: whatever the shape of a known attribute, all its content is in a field or in metadata", () => {
  const given = fc.array(
    fc.record({
      key: fc.constantFrom(...knownKeys, ...readByCode),
      shape: fc.nat(9),
      isText: fc.boolean(),
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(given, scopeNames, fc.boolean(), (shapes, name, isRoot) => {
      let count = 0;
      const marks: string[] = [];
      const mark = (): string => {
        count += 1;
        marks.push(`mark${count}end`);
        return marks.at(-1) ?? "";
      };
      const sent = new Map<string, AttributeValue>();
      for (const { key, shape, isText } of shapes) {
        if (sent.has(key)) continue;
        const value = anyShape(mark)[shape]?.();
        sent.set(key, (isText && typeof value !== "string" ? JSON.stringify(value) : value) as AttributeValue);
      }
      const body = mapSpan(
        {
          traceId: "a".repeat(32),
          spanId: "b".repeat(16),
          parentSpanId: isRoot ? "" : "c".repeat(16),
          traceState: "",
          name: "span",
          kind: 1,
          startNs: 1n,
          endNs: 2n,
          attributes: sent,
          droppedAttributes: 0,
          events: [],
          links: [],
          status: { code: 0, message: "" },
        },
        { resource: new Map(), scope: { name, version: "", attributes: new Map() } },
        { nested: createNestedJson(domainLimits.bodyNodes) },
      );
      const text = JSON.stringify(body, (_key, item: unknown) => (typeof item === "bigint" ? String(item) : item));
      expect(marks.filter((lost) => !text.includes(lost))).toEqual([]);
    }),
    { numRuns: 2000 },
  );
});

test.each(["NaN", "Infinity", "-Infinity"])(
  "S1: %s under a known key is in a text field or in metadata, not in a number",
  (word) => {
    const lost = [...knownKeys, ...readByCode].filter((key) => {
      const body = JSON.stringify(mapped({ [key]: word }), digits).toLowerCase();
      return !body.includes(`"${word.toLowerCase()}"`);
    });
    expect(lost).toEqual([]);
    const counted = {
      "gen_ai.usage.input_tokens": word,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.request.temperature": word,
    };
    const { metadata, ...fields } = mapped({ ...counted, f1: [word, 1] });
    expect(metadata).toEqual({
      f1: [word, 1],
      "gen_ai.usage.input_tokens": word,
      "gen_ai.request.temperature": word,
    });
    expect(fields).toMatchObject({ completion_tokens: 5 });
    expect(JSON.stringify(fields, digits)).not.toMatch(/null|NaN|Infinity/);
  },
);

const digits = (_key: string, item: unknown): unknown => (typeof item === "bigint" ? String(item) : item);

/** Makes patterns that can match a text in two ways try all of them. */
const long = 100_000;
const longTexts = ["1", "a", " ", "\\", '"', "'", "[", "{", "a.", "a_", "error ", "404 ", '{"a":'].flatMap((part) => {
  const run = part.repeat(Math.ceil(long / part.length));
  return [`${run}!`, `x${run}x`, `error code${run}x`, `"${run}`, `'a'${run}`];
});

const msFor = (read: (text: string) => unknown): number => {
  const started = performance.now();
  for (const text of longTexts) read(text);
  return performance.now() - started;
};
/** For all texts together. A pattern with quadratic time takes longer for a single one. */
const slowMs = 3000;

test("long values of known attributes do not block the event loop", () => {
  const failed = { status: { code: 2, message: "" } };
  const slow = [...new Set([...knownKeys, ...readByCode])].filter(
    (key) => msFor((text) => mapped({ [key]: text }, failed)) > slowMs,
  );
  expect(slow).toEqual([]);
}, 60_000);

test("long values of body fields do not block the event loop", () => {
  const slow = [...wireFields].filter(([, { reader }]) => msFor(reader) > slowMs).map(([name]) => name);
  expect(slow).toEqual([]);
}, 60_000);

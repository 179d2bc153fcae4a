import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SpanRow } from "../../domain/span.ts";
import { parseJson } from "../../lib/json.ts";
import { createPriceBook } from "../../pricing/price-book.ts";
import { createNestedJson } from "../../validation/field-readers.ts";
import { normalizeSpan, type NormalizedSpan, type SpanOrigin } from "./normalize.ts";

const prices = createPriceBook({ maxModels: 100 });
const origin: SpanOrigin = {
  organization_id: "org_a",
  environment: "prod",
  organization_key_id: "key_1",
  organization_key_name: "Backend",
  log_method: "logging_api",
};
const receivedNs = BigInt(Date.UTC(2026, 0, 2)) * 1_000_000n;

const normalize = (body: unknown, more: { idempotencyKey?: string; origin?: Partial<SpanOrigin> } = {}) =>
  normalizeSpan(
    body,
    { ...origin, ...more.origin },
    { receivedNs, prices, nested: createNestedJson(1_000_000), idempotencyKey: more.idempotencyKey },
  );

const span = (body: unknown, more = {}): NormalizedSpan => {
  const result = normalize(body, more);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.span;
};
/** The stored form: undefined members are left out. */
const row = (body: unknown) => JSON.parse(JSON.stringify(span(body).row)) as SpanRow;
const errors = (body: unknown) => {
  const result = normalize(body);
  return result.ok ? undefined : result.errors;
};

describe("required shape of a body", () => {
  test("only a JSON object is required", () => {
    expect(row({})).toMatchObject({ log_type: "text", status: "success", status_code: 200, environment: "prod" });
    for (const body of [null, 1, "x", [], true]) expect(errors(body)).toEqual({ body: ["must be a JSON object"] });
  });

  test.each([
    ["model", 123],
    ["customer_identifier", 5],
    ["prompt_tokens", "abc"],
    ["prompt_tokens", -1],
    ["prompt_tokens", 1.5],
    ["cost", "abc"],
    ["cost", -0.1],
    ["latency", "fast"],
    ["prompt_messages", { role: "user" }],
    ["completion_message", "hello"],
    ["metadata", ["a"]],
    ["metadata", "no object"],
    ["stream", "maybe"],
    ["timestamp", "yesterday"],
    ["timestamp", true],
    ["start_time", "2026-13-01"],
    ["tools", {}],
    ["status_code", "ok"],
    ["customer_params", 5],
    ["trace_unique_id", "x".repeat(255)],
  ])("an invalid %s (%j) is reported by name", (field, value) => {
    expect(Object.keys(errors({ [field]: value }) ?? {})).toEqual([field]);
  });

  test("reports all wrong fields together", () => {
    expect(Object.keys(errors({ model: 1, cost: "x", ttft: {} }) ?? {}).sort()).toEqual(["cost", "model", "ttft"]);
  });

  test("null and empty text count as absent, unknown fields and the environment are ignored", () => {
    const sent = { model: null, customer_identifier: "", trace_unique_id: "", environment: "test", whatever: { a: 1 } };
    const { isIdentified } = span(sent);
    const stored = row(sent);
    expect(stored).toMatchObject({ environment: "prod" });
    for (const field of ["model", "customer_identifier", "trace_unique_id", "whatever"])
      expect(stored).not.toHaveProperty(field);
    expect(isIdentified).toBe(false);
  });

  test("too deep and too many values are refused, hostile keys are harmless", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    expect(errors({ metadata: { deep } })).toEqual({ body: [expect.stringContaining("nest deeper")] });
    expect(errors({ metadata: Object.fromEntries(Array.from({ length: 250_001 }, (_, i) => [`k${i}`, 1])) })).toEqual({
      body: [expect.stringContaining("more than")],
    });
    const hostile = parseJson(
      Buffer.from('{"__proto__":{"polluted":1},"constructor":1,"metadata":{"__proto__":{"polluted":1},"a":1}}'),
    );
    if (!hostile.ok) throw new Error(hostile.message);
    const stored = row(hostile.value);
    expect(JSON.stringify([stored.metadata, stored.metadata_reserved])).toBe('[{"a":1},{"__proto__":{"polluted":1}}]');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("names and times", () => {
  test("aliases set the field's own name, which takes precedence", () => {
    expect(row({ generation_time: 2, ttft: 0.5, messages: [{ role: "user", content: "x" }] })).toMatchObject({
      latency: 2,
      time_to_first_token: 0.5,
      prompt_messages: [{ role: "user", content: "x" }],
    });
    expect(row({ generation_time: 2, latency: 3 }).latency).toBe(3);
    expect(row({ latency: 3, generation_time: 2 }).latency).toBe(3);
  });

  test("service parameters of every family are merged below the body", () => {
    expect(
      row({
        customer_identifier: "own",
        svc_params: { customer_identifier: "svc", thread_identifier: "t", environment: "test" },
        keywordsai_params: { thread_identifier: "legacy", metadata: { a: 1 } },
      }),
    ).toMatchObject({ customer_identifier: "own", thread_identifier: "t", metadata: { a: 1 }, environment: "prod" });
    expect(Object.keys(errors({ respan_params: { cost: "x" } }) ?? {})).toEqual(["respan_params.cost"]);
  });

  test("customer_params set the customer if the body does not", () => {
    expect(
      row({ customer_params: { customer_identifier: "c", email: "e@x.io", name: "N" }, customer_name: "Own" }),
    ).toMatchObject({
      customer_identifier: "c",
      customer_email: "e@x.io",
      customer_name: "Own",
    });
  });

  test.each([
    [
      { timestamp: "2026-01-01T00:00:10Z", latency: 4 },
      "2026-01-01 00:00:06.000000000",
      "2026-01-01 00:00:10.000000000",
      4,
    ],
    [
      { start_time: "2026-01-01T00:00:06Z", latency: 4 },
      "2026-01-01 00:00:06.000000000",
      "2026-01-01 00:00:10.000000000",
      4,
    ],
    [
      { start_time: "2026-01-01T00:00:06Z", timestamp: "2026-01-01T00:00:08.5Z" },
      "2026-01-01 00:00:06.000000000",
      "2026-01-01 00:00:08.500000000",
      2.5,
    ],
    [
      { start_time: "2026-01-01T00:00:06Z", timestamp: "2026-01-01T00:00:08.5Z", latency: 0 },
      "2026-01-01 00:00:06.000000000",
      "2026-01-01 00:00:08.500000000",
      2.5,
    ],
    [
      { start_time: "2026-01-01T00:00:06Z", timestamp: "2026-01-01T00:00:05Z" },
      "2026-01-01 00:00:06.000000000",
      "2026-01-01 00:00:05.000000000",
      undefined,
    ],
    [{ timestamp: 0 }, "1970-01-01 00:00:00.000000000", "1970-01-01 00:00:00.000000000", undefined],
    [
      { timestamp: "2026-01-01T00:00:00.123456789" },
      "2026-01-01 00:00:00.123456789",
      "2026-01-01 00:00:00.123456789",
      undefined,
    ],
    [{ latency: -3 }, "2026-01-02 00:00:00.000000000", "2026-01-02 00:00:00.000000000", undefined],
  ])("times of %j", (body, start_time, timestamp, latency) => {
    const stored = row(body);
    expect([stored.start_time, stored.timestamp, stored.latency]).toEqual([start_time, timestamp, latency]);
  });

  test("a latency of centuries stays within the supported range of times", () => {
    expect(row({ timestamp: "2026-01-01", latency: 9e9 }).start_time).toMatch(/^1900|^17/);
    expect(row({ start_time: "2026-01-01", latency: 9e9 }).timestamp).toMatch(/^2262|^23/);
  });
});

describe("outcome", () => {
  test.each([
    [{}, "success", 200],
    [{ status: "error" }, "failed", 500],
    [{ status: "ERROR", status_code: 429 }, "failed", 429],
    [{ status: "Failed" }, "failed", 500],
    [{ status: "OK" }, "success", 200],
    [{ status: "OK", status_code: 404 }, "failed", 404],
    [{ status: "Half done" }, "Half done", 200],
    [{ status_code: 404 }, "failed", 404],
    [{ status: "success", status_code: "201" }, "success", 201],
  ])("of %j", (body, status, status_code) => {
    expect(row(body)).toMatchObject({ status, status_code });
  });
});

describe("content", () => {
  test("log_type is chat if there are messages, otherwise text, unless stated", () => {
    expect(row({ prompt_messages: [] }).log_type).toBe("chat");
    expect(row({ input: "x" }).log_type).toBe("text");
    expect(row({ log_type: "my_own_kind" }).log_type).toBe("my_own_kind");
  });

  test("messages that arrive as JSON text are read", () => {
    expect(row({ prompt_messages: '[{"role":"user","content":"x"}]' }).prompt_messages).toEqual([
      { role: "user", content: "x" },
    ]);
  });

  test("the tool calls of a response become the span's, unless it states its own or omits content", () => {
    const tool_calls = [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }];
    const completion_message = { role: "assistant", content: null, tool_calls };
    expect(row({ completion_message }).tool_calls).toEqual(tool_calls);
    expect(row({ completion_message, tool_calls: ["own"] }).tool_calls).toEqual(["own"]);
    expect(row({ completion_message, disable_log: true })).not.toHaveProperty("tool_calls");
    expect(row({ completion_message: { tool_calls: [] } })).not.toHaveProperty("tool_calls");
  });

  test("tool calls in the AI SDK's shape become OpenAI's", () => {
    const aiSdkCalls = [
      { toolCallId: "c1", toolName: "f", input: { a: 1 } },
      { type: "function", id: "c2", name: "g", args: '{"b":2}', result: "done" },
    ];
    const calls = [
      { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
      { id: "c2", type: "function", function: { name: "g", arguments: '{"b":2}' }, result: "done" },
    ];
    const stated = row({ completion_message: { role: "assistant", content: "", tool_calls: aiSdkCalls } });
    expect([stated.tool_calls, stated.completion_message]).toEqual([
      calls,
      { role: "assistant", content: "", tool_calls: calls },
    ]);
    expect(row({ tool_calls: aiSdkCalls }).tool_calls).toEqual(calls);
  });

  test("a document that is a string stays a string", () => {
    const stored = row({ full_request: "plain", full_response: { a: "x" }, input: "plain" });
    expect([stored.full_request, stored.full_response, stored.input]).toEqual(['"plain"', { a: "x" }, "plain"]);
  });

  test("input that repeats the messages is not stored twice", () => {
    const messages = [{ role: "user", content: "x" }];
    expect(row({ prompt_messages: messages, input: JSON.stringify(messages) })).not.toHaveProperty("input");
    expect(row({ prompt_messages: messages, input: "other" }).input).toBe("other");
  });

  test("disable_log keeps metrics and drops content", () => {
    const stored = row({
      disable_log: true,
      input: "secret-a",
      output: "secret-b",
      prompt_messages: [{ content: "secret-c" }],
      completion_message: { content: "secret-d" },
      tool_calls: ["secret-e"],
      full_request: { x: "secret-f" },
      variables: { v: "secret-g" },
      error_message: "secret-h",
      warnings: ["secret-i"],
      response_format: { type: "json_schema", json_schema: { description: "secret-j" } },
      stop: ["secret-k"],
      tool_choice: { type: "function", function: { name: "secret-l" } },
      span_tools: ["secret-m"],
      span_handoffs: ["secret-n"],
      usage: { prompt_tokens: 5, note: "secret-o", prompt_tokens_details: { cached_tokens: 2, x: ["secret-p"] } },
      model: "gpt-4o",
      prompt_tokens: 5,
      completion_tokens: 5,
    });
    expect(JSON.stringify(stored)).not.toContain("secret");
    expect(stored).toMatchObject({
      model: "gpt-4o",
      prompt_tokens: 5,
      log_type: "chat",
      extra: {
        is_log_omitted: true,
        usage: { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 2 } },
      },
    });
  });

  test("reserved metadata is stored separately and never indexed", () => {
    const stored = row({ metadata: { _secret: 1, a: { b: 2 }, n: 10 } });
    expect(stored.metadata).toEqual({ a: { b: 2 }, n: 10 });
    expect(stored.metadata_reserved).toEqual({ _secret: 1 });
    expect(JSON.stringify(stored.metadata_index)).not.toContain("_secret");
  });
});

describe("cost", () => {
  const call = { model: "gpt-4o", prompt_tokens: 1000, completion_tokens: 100 };
  test("is computed when absent, kept when stated, null when unknown", () => {
    expect(row(call)).toMatchObject({
      cost: 0.0035,
      cost_source: "computed",
      price_version: expect.stringContaining("openai/gpt-4o") as string,
    });
    expect(row({ ...call, cost: 9 })).toMatchObject({ cost: 9, cost_source: "stated" });
    expect(row({ ...call, cost: 0 })).toMatchObject({ cost: 0, cost_source: "stated" });
    expect(row({ ...call, model: "unknown-model" })).not.toHaveProperty("cost");
    expect(row({ model: "gpt-4o" })).not.toHaveProperty("cost");
    expect(row({ ...call, prompt_tokens: 0, completion_tokens: 0 }).cost).toBe(0);
    expect(row({ ...call, cost: Number.POSITIVE_INFINITY })).toMatchObject({ cost: 0.0035 });
    expect(row({ ...call, cache_hit: true }).cost).toBe(0);
    expect(row({ ...call, model: "x", prompt_unit_price: 1, completion_unit_price: 2 }).cost).toBeCloseTo(0.0012);
  });

  test.each([
    [
      {
        prompt_tokens: 57,
        completion_tokens: 17,
        total_tokens: 74,
        prompt_tokens_details: { cached_tokens: 32 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
      [57, 17, 74, 32, undefined, 5],
    ],
    [
      { input_tokens: 25, output_tokens: 17, cache_creation_input_tokens: 12, cache_read_input_tokens: 20 },
      [57, 17, 74, 20, 12, undefined],
    ],
    // Anthropic, Bedrock and Claude's agents count the cache outside the input, even if the cache is smaller.
    [
      { input_tokens: 5000, output_tokens: 17, cache_creation_input_tokens: 12, cache_read_input_tokens: 20 },
      [5032, 17, 5049, 20, 12, undefined],
    ],
    [
      { inputTokens: 5000, outputTokens: 17, cacheWriteInputTokens: 12, cacheReadInputTokens: 20 },
      [5032, 17, 5049, 20, 12, undefined],
    ],
    [
      { inputTokens: 5000, outputTokens: 17, cacheCreationInputTokens: 12, cacheReadInputTokens: 20 },
      [5032, 17, 5049, 20, 12, undefined],
    ],
    // LiteLLM adds Anthropic's names to a prompt count that includes the cache.
    [
      { prompt_tokens: 5032, completion_tokens: 17, cache_creation_input_tokens: 12, cache_read_input_tokens: 20 },
      [5032, 17, 5049, 20, 12, undefined],
    ],
    [
      { input_tokens: 57, output_tokens: 17, input_tokens_details: { cached_tokens: 32 } },
      [57, 17, 74, 32, undefined, undefined],
    ],
    [
      { prompt_tokens: "57", completion_tokens: null, total_tokens: 74 },
      [57, undefined, 74, undefined, undefined, undefined],
    ],
  ])("usage %j", (usage, [prompt, completion, total, read, write, reasoning]) => {
    const stored = row({ usage });
    expect([
      stored.prompt_tokens,
      stored.completion_tokens,
      stored.total_tokens,
      stored.prompt_cache_hit_tokens,
      stored.prompt_cache_creation_tokens,
      stored.reasoning_tokens,
    ]).toEqual([prompt, completion, total, read, write, reasoning]);
  });
});

describe("identity", () => {
  const ids = { trace_unique_id: "t", span_unique_id: "s" };
  test("follows from organization, environment, trace and span only", () => {
    const first = span(ids).row.unique_id;
    expect(span({ ...ids, model: "x" }).row.unique_id).toBe(first);
    const others = [
      span({ ...ids, span_unique_id: "s2" }),
      span({ ...ids, trace_unique_id: "t2" }),
      span(ids, { origin: { organization_id: "org_b" } }),
      span(ids, { origin: { environment: "test" } }),
    ].map((other) => other.row.unique_id);
    expect(new Set([first, ...others]).size).toBe(5);
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("is otherwise new for each row, unless there is an idempotency key", () => {
    expect(span({ span_unique_id: "s" }).row.unique_id).not.toBe(span({ span_unique_id: "s" }).row.unique_id);
    expect(span({}, { idempotencyKey: "k\n0" }).row.unique_id).toBe(span({}, { idempotencyKey: "k\n0" }).row.unique_id);
    expect(span({}, { idempotencyKey: "k\n0" }).row.unique_id).not.toBe(
      span({}, { idempotencyKey: "k\n1" }).row.unique_id,
    );
  });

  test("fuller versions rank higher", () => {
    const versions = [
      { ...ids, start_time: "2026-01-01" },
      { ...ids, start_time: "2026-01-01", timestamp: "2026-01-01T00:00:05Z" },
      { ...ids, usage: { prompt_tokens: 1, completion_tokens: 1 } },
      { ...ids, output: "x" },
      { ...ids, output: "x", latency: 3 },
      { ...ids, output: "x", latency: 3, prompt_tokens: 3 },
    ].map((body) => span(body).version);
    expect([...versions].sort((a, b) => (a < b ? -1 : 1))).toEqual(versions);
    expect(versions.at(-1)! < 2n ** 64n).toBe(true);
  });
});

test("no JSON object makes it throw or return a row that is not JSON", () => {
  const fieldNames = [
    "metadata",
    "usage",
    "timestamp",
    "latency",
    "prompt_messages",
    "output",
    "cost",
    "svc_params",
    "stop",
    "n",
  ];
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(fc.constantFrom(...fieldNames), fc.string()), fc.jsonValue()), (body) => {
      const result = normalize(body);
      const outcome = result.ok ? (JSON.parse(JSON.stringify(result.span.row)) as object) : result.errors;
      expect(Object.keys(outcome).length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});

import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";
import { bodyOf, createSpan, fieldsOf, retrieveSpan, roundTrip } from "../support/spans.ts";

let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
let organizationId: string;
beforeAll(async () => {
  app = await startTestApp();
  const organization = await app.newOrganization();
  ({ prod, test: testKey, unique_organization_id: organizationId } = organization);
});
afterAll(() => app.stop());

const path = "/api/request-logs/";
const unpricedModel = "a-model-of-our-own";

describe("the answer", () => {
  test("201 with the members that clients read", async () => {
    const answer = await prod.post(path, {
      model: "gpt-4o",
      prompt_messages: [{ role: "user", content: "Hi" }],
      completion_message: { role: "assistant", content: "Hello" },
      prompt_tokens: 8,
      completion_tokens: 9,
      prompt_cache_hit_tokens: 3,
      prompt_cache_creation_tokens: 2,
      cost: 0.25,
      generation_time: 1.5,
      ttft: 0.2,
      timestamp: "2026-02-03T04:05:06.789Z",
      customer_identifier: "customer-1",
    });
    expect(answer.status).toBe(201);
    const { unique_id } = bodyOf(answer);
    expect(answer.json).toEqual({
      id: unique_id,
      unique_id: expect.stringMatching(/^[\w-]+$/),
      organization_id: organizationId,
      environment: "prod",
      customer_identifier: "customer-1",
      status: "success",
      cost: 0.25,
      timestamp: "2026-02-03T04:05:06.789Z",
      latency: 1.5,
      time_to_first_token: 0.2,
      prompt_cache_creation_tokens: 2,
      prompt_cache_hit_tokens: 3,
      message: expect.any(String),
    });
  });

  test("absent fields are null, also the cost: unknown is not zero", async () => {
    const created = await createSpan(prod, { model: unpricedModel, prompt_tokens: 1 });
    expect(created).toMatchObject({
      cost: null,
      latency: null,
      time_to_first_token: null,
      customer_identifier: null,
      prompt_cache_hit_tokens: null,
      prompt_cache_creation_tokens: null,
    });
  });

  test("an empty object is a span: nothing is required", async () => {
    const sentAtMs = Date.now();
    const span = await roundTrip(prod, {});
    expect(span).toMatchObject({ log_type: "text", status: "success", status_code: 200, metadata: {} });
    const timestampMs = Date.parse(String(span["timestamp"]));
    expect(timestampMs).toBeGreaterThanOrEqual(sentAtMs);
    expect(timestampMs).toBeLessThanOrEqual(Date.now());
  });

  test("spans without ids get new ids", async () => {
    const body = { input: "same", timestamp: "2026-01-01T00:00:00Z" };
    const [first, second] = [await createSpan(prod, body), await createSpan(prod, body)];
    expect(first["unique_id"]).not.toBe(second["unique_id"]);
  });

  test.each([
    ["status error", { status: "error" }],
    ["a status code from 400 on", { status_code: 503 }],
  ])("%s makes the span an error, stored as failed", async (_name, body) => {
    const created = await createSpan(prod, body);
    expect(created["status"]).toBe("error");
    expect(await retrieveSpan(prod, created["unique_id"])).toMatchObject({ status: "failed", failed: true });
  });
});

/** Every field of a span body, with a value that must be returned as it was sent. */
const everyField: Row = {
  input: "what went in",
  output: "what came out",
  prompt_messages: [
    { role: "system", content: "Be brief. 请简短 🙂" },
    { role: "user", content: [{ type: "text", text: "Hi" }] },
  ],
  completion_message: { role: "assistant", content: "Hello", tool_calls: [{ id: "call_1", type: "function" }] },
  completion_messages: [
    { role: "assistant", content: "Hello" },
    { role: "assistant", content: "Hey" },
  ],
  full_request: { model: "gpt-4o", stream: false },
  full_response: { id: "chatcmpl-1", choices: [] },
  tools: [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }],
  tool_calls: [{ id: "call_1", type: "function", function: { name: "look_up", arguments: "{}" } }],
  tool_choice: { type: "function", function: { name: "look_up" } },
  response_format: { type: "json_object" },
  variables: { city: "Kyiv", days: 3 },
  ideal_output: "ideal",
  reasoning: [{ type: "summary", text: "because" }],
  embedding: [0.5, -0.25],
  audio_input_file: "https://example.com/in.wav",
  audio_output_file: "https://example.com/out.wav",
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_cache_hit_tokens: 40,
  prompt_cache_creation_tokens: 10,
  reasoning_tokens: 5,
  usage_is_estimated: true,
  usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, vendor_extra: { kept: true } },
  cost: 0.0125,
  prompt_unit_price: 2.5,
  completion_unit_price: 10,
  timestamp: "2026-05-06T07:08:09.123456789Z",
  start_time: "2026-05-06T07:08:07.000Z",
  latency: 2.125,
  time_to_first_token: 0.375,
  tokens_per_second: 9.5,
  routing_time: 0.001,
  status: "success",
  status_code: 207,
  error_message: "partly",
  error_code: "partial",
  warnings: { slow: true },
  stream: true,
  positive_feedback: false,
  temperature: 0.7,
  top_p: 0.9,
  max_tokens: 256,
  frequency_penalty: 0.1,
  presence_penalty: -0.1,
  n: 2,
  stop: ["END", "\n"],
  encoding_format: "float",
  dimensions: 2,
  customer_identifier: "customer-round-trip",
  customer_email: "ada@example.com",
  customer_name: "Ada Lovelace",
  customer_params: { customer_identifier: "not this one", name: "nor this", extra: 1 },
  thread_identifier: "thread-round-trip",
  custom_identifier: "custom-round-trip",
  group_identifier: "group-round-trip",
  evaluation_identifier: "evaluation-round-trip",
  session_identifier: "session-round-trip",
  trace_group_identifier: "trace-group-round-trip",
  prompt_id: "prompt-round-trip",
  prompt_name: "Greeting",
  prompt_version_number: 3,
  provider_id: "openai",
  deployment_id: "deployment-id",
  deployment_name: "deployment-name",
  category: "support",
  note: "a note",
  trace_unique_id: "trace-round-trip",
  span_unique_id: "span-round-trip",
  span_parent_id: "parent-round-trip",
  span_name: "answer",
  span_workflow_name: "support-bot",
  span_path: "support.answer",
  trace_name: "Support",
  span_handoffs: ["agent-a"],
  span_tools: ["look_up"],
  span_links: [{ trace_id: "t", span_id: "s" }],
  log_type: "chat",
  log_method: "python_tracing",
  model: "gpt-4o",
  cache_hit: true,
  cache_key: "cache-round-trip",
  metadata: {
    plan: "pro",
    seats: 3,
    ratio: 0.5,
    trial: false,
    nothing: null,
    tags: ["a", 1],
    deep: { er: { est: 1 } },
  },
  properties: { native: 1, nested: { list: [true] } },
};

describe("a span with every field", () => {
  let retrieved: Row;
  beforeAll(async () => {
    retrieved = await roundTrip(prod, everyField);
  });

  test.each(Object.keys(everyField))("%s is retrieved as it was sent", (field) => {
    expect(retrieved[field]).toEqual(everyField[field]);
  });
});

describe.concurrent("aliases and shapes", () => {
  const message = { role: "user", content: "Hi" };
  const messages = [message];
  test.each<[name: string, body: Row, expected: Row]>([
    ["generation_time is latency", { generation_time: 2.5 }, { latency: 2.5 }],
    ["ttft is time_to_first_token", { ttft: 0.5 }, { time_to_first_token: 0.5 }],
    ["messages are prompt_messages", { messages }, { prompt_messages: messages, log_type: "chat" }],
    ["workflow_name is span_workflow_name", { workflow_name: "w" }, { span_workflow_name: "w" }],
    [
      "total_request_tokens are total_tokens",
      { total_request_tokens: 7 },
      { total_tokens: 7, total_request_tokens: 7 },
    ],
    ["end_time is timestamp", { end_time: "2026-03-04T05:06:09Z" }, { timestamp: "2026-03-04T05:06:09.000Z" }],
    ["the own name wins over the alias", { latency: 1, generation_time: 2 }, { latency: 1 }],
    ["the own name wins whatever the order", { generation_time: 2, latency: 1 }, { latency: 1 }],
    [
      "Anthropic's token names, whose input leaves the cache out",
      { usage: { input_tokens: 25, output_tokens: 17, cache_creation_input_tokens: 12, cache_read_input_tokens: 20 } },
      { prompt_tokens: 57, completion_tokens: 17, prompt_cache_creation_tokens: 12, prompt_cache_hit_tokens: 20 },
    ],
    [
      "OpenAI's usage with its details",
      {
        usage: {
          prompt_tokens: 57,
          completion_tokens: 17,
          prompt_tokens_details: { cached_tokens: 32 },
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      },
      { prompt_tokens: 57, completion_tokens: 17, total_tokens: 74, prompt_cache_hit_tokens: 32, reasoning_tokens: 5 },
    ],
    ["total_tokens are added up", { prompt_tokens: 2, completion_tokens: 3 }, { total_tokens: 5 }],
    ["log_type is chat where messages are", { completion_message: message }, { log_type: "chat" }],
    ["log_type is free", { log_type: "something-new" }, { log_type: "something-new" }],
    [
      "customer_params name the customer",
      { customer_params: { customer_identifier: "c", name: "N", email: "e@example.com" } },
      { customer_identifier: "c", customer_name: "N", customer_email: "e@example.com" },
    ],
    ["svc_params are merged in", { svc_params: { customer_identifier: "c" } }, { customer_identifier: "c" }],
    ["respan_params too", { respan_params: { thread_identifier: "t" } }, { thread_identifier: "t" }],
    ["keywordsai_params too", { keywordsai_params: { metadata: { a: 1 } } }, { metadata: { a: 1 } }],
    ["the body wins over them", { model: "a", svc_params: { model: "b" } }, { model: "a" }],
    [
      "an empty text is absent",
      { customer_email: "", span_parent_id: "" },
      { customer_email: null, span_parent_id: null },
    ],
    ["a null is absent", { latency: null, metadata: null, span_parent_id: null }, { latency: null, metadata: {} }],
    ["digits in text are a number", { latency: "1.5", prompt_tokens: "12" }, { latency: 1.5, prompt_tokens: 12 }],
    ["a negative latency is ignored", { latency: -1 }, { latency: null }],
    ["input may be an object", { input: { q: 1 } }, { input: '{"q":1}' }],
    [
      "input as the JSON text of messages",
      { log_type: "chat", input: JSON.stringify(messages) },
      { prompt_messages: messages },
    ],
    ["input as plain text of a chat", { log_type: "chat", input: "Hi" }, { prompt_messages: messages, input: "Hi" }],
    [
      "output as plain text of a chat",
      { log_type: "chat", output: "Yo" },
      { completion_message: { role: "assistant", content: "Yo" }, output: "Yo" },
    ],
    ["messages replace a missing input", { prompt_messages: messages }, { input: JSON.stringify(messages) }],
    ["input of a tool stays what it is", { log_type: "tool", input: "ls" }, { prompt_messages: null, input: "ls" }],
    [
      "latency follows from both times",
      { start_time: "2026-01-01T00:00:00Z", timestamp: "2026-01-01T00:00:02.5Z" },
      { latency: 2.5 },
    ],
    [
      "start_time follows from timestamp and latency",
      { timestamp: "2026-01-01T00:00:02Z", latency: 2 },
      { start_time: "2026-01-01T00:00:00.000Z" },
    ],
    ["a naive time is UTC", { timestamp: "2026-01-01T00:00:02" }, { timestamp: "2026-01-01T00:00:02.000Z" }],
    ["an offset is minded", { timestamp: "2026-01-01T02:00:00+02:00" }, { timestamp: "2026-01-01T00:00:00.000Z" }],
    ["epoch seconds", { timestamp: 1_767_225_600 }, { timestamp: "2026-01-01T00:00:00.000Z" }],
    ["epoch milliseconds", { timestamp: 1_767_225_600_500 }, { timestamp: "2026-01-01T00:00:00.500Z" }],
    [
      "epoch nanoseconds, to the digit",
      { timestamp: "1767225600123456789" },
      { timestamp: "2026-01-01T00:00:00.123456789Z" },
    ],
    ["the epoch itself", { timestamp: 0 }, { timestamp: "1970-01-01T00:00:00.000Z" }],
    [
      "an end before the start is stored, and gives no latency",
      { start_time: "2026-01-01T00:00:02Z", timestamp: "2026-01-01T00:00:01Z" },
      { start_time: "2026-01-01T00:00:02.000Z", timestamp: "2026-01-01T00:00:01.000Z", latency: null },
    ],
    ["reserved keys of metadata sent as JSON text too", { metadata: '{"_a":1,"b":2}' }, { metadata: { b: 2 } }],
    ["speed follows from output and latency", { completion_tokens: 10, latency: 2 }, { tokens_per_second: 5 }],
    ["controls of other products are no error", { is_test: false, has_webhook: true, field_name: "data: " }, {}],
    [
      "disable_log keeps figures and drops content",
      { disable_log: true, prompt_messages: messages, completion_message: message, tools: [], prompt_tokens: 4 },
      { prompt_tokens: 4, prompt_messages: null, completion_message: null, tools: null, input: null, output: null },
    ],
    ["lone surrogates and NUL become U+FFFD", { span_name: "a\ud83db\u0000c" }, { span_name: "a\ufffdb\ufffdc" }],
  ])("%s", async (_name, body, expected) => {
    expect(await roundTrip(prod, body)).toMatchObject(expected);
  });

  test("nanoseconds as a number keep every digit", async () => {
    const created = await prod.post(path, '{"timestamp":1767225600123456789}');
    expect(bodyOf(created)["timestamp"]).toBe("2026-01-01T00:00:00.123456789Z");
  });

  test("JSON of Python, with NaN and Infinity, is read with null instead of these", async () => {
    const created = await prod.post(path, '{"latency": NaN, "metadata": {"a": -Infinity, "b": "NaN"}}');
    expect(created.status).toBe(201);
    const span = await retrieveSpan(prod, bodyOf(created)["unique_id"]);
    expect(span).toMatchObject({ latency: null, metadata: { a: null, b: "NaN" } });
  });
});

describe.concurrent("cost", () => {
  const call = { model: "gpt-4o", provider_id: "openai", prompt_tokens: 1000, completion_tokens: 1000 };
  test("is computed from the model's price when it was not stated", async () => {
    const span = await roundTrip(prod, call);
    expect(span["cost"]).toBeCloseTo(0.0125, 10);
    expect(span).toMatchObject({ cost_source: "computed", price_version: expect.stringContaining("gpt-4o") });
  });

  test.each<[name: string, body: Row, cost: number | null]>([
    ["stated, it is kept", { ...call, cost: 9 }, 9],
    ["stated as zero, it is zero", { ...call, cost: 0 }, 0],
    ["stated unit prices are per million tokens", { ...call, prompt_unit_price: 1, completion_unit_price: 3 }, 0.004],
    ["of a model without a price it is null", { ...call, model: unpricedModel, provider_id: "" }, null],
    ["without usage it is null", { model: "gpt-4o" }, null],
    ["of a cache hit it is zero", { ...call, cache_hit: true }, 0],
  ])("%s", async (_name, body, cost) => {
    expect((await createSpan(prod, body))["cost"]).toBe(cost);
  });
});

describe("environment", () => {
  test.each(["prod", "test"])("a body that says %s does not override the key", async (environment) => {
    const body = { environment, svc_params: { environment }, is_test: environment === "test" };
    expect((await createSpan(prod, body))["environment"]).toBe("prod");
    expect((await createSpan(testKey, body))["environment"]).toBe("test");
  });
});

describe("refusals", () => {
  test.each<[field: string, value: unknown]>([
    ["prompt_messages", "not a list"],
    ["prompt_messages", { role: "user" }],
    ["completion_message", ["not an object"]],
    ["metadata", "text"],
    ["metadata", [1]],
    ["tools", { not: "a list" }],
    ["latency", "soon"],
    ["generation_time", {}],
    ["ttft", []],
    ["prompt_tokens", -1],
    ["completion_tokens", 1.5],
    ["cost", "abc"],
    ["cost", -0.01],
    ["model", 5],
    ["stream", "perhaps"],
    ["status_code", "not found"],
    ["timestamp", "yesterday"],
    ["start_time", {}],
    ["trace_unique_id", 12],
    ["customer_identifier", {}],
    ["customer_identifier", "x".repeat(255)],
    ["usage", 4],
    ["svc_params", "text"],
  ])("a bad %s (%j) is 422 naming the field", async (field, value) => {
    const answer = await prod.post(path, { [field]: value });
    expect(answer.status).toBe(422);
    expect(answer.json).toMatchObject({ code: "validation_failed", detail: expect.stringContaining(field) });
    expect(fieldsOf(answer)).toEqual([field]);
  });

  test("every invalid field is named", async () => {
    const answer = await prod.post(path, { model: 1, latency: "x", input: "fine" });
    expect(fieldsOf(answer).sort()).toEqual(["latency", "model"]);
  });

  test.each<[name: string, body: unknown, status: number]>([
    ["text that is no JSON", "{nope", 400],
    ["JSON that ends early", '{"model": "gpt', 400],
    ["no body", "", 400],
    ["a list", [], 422],
    ["a number", "7", 422],
    ["null", "null", 422],
    ["nesting without end", `{"metadata":${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}}`, 422],
  ])("%s is refused", async (_name, body, status) => {
    const answer = await prod.post(path, body);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ detail: expect.any(String), code: expect.any(String) });
  });
});

describe("size", () => {
  const bytes = 20 * 1024 * 1024;
  test("a span over 20 MB is 413, also if it arrives compressed", async () => {
    const body = JSON.stringify({ input: "x".repeat(bytes) });
    expect((await prod.post(path, body)).status).toBe(413);
    expect((await prod.post(path, gzipSync(body), { "content-encoding": "gzip" })).status).toBe(413);
  });

  test("a span just below the limit is stored completely", async () => {
    const input = "x".repeat(bytes - 2048);
    const created = await prod.post(path, gzipSync(JSON.stringify({ input })), { "content-encoding": "gzip" });
    expect(created.status).toBe(201);
    const span = await retrieveSpan(prod, bodyOf(created)["unique_id"]);
    expect(span["input"] === input).toBe(true);
  });
});

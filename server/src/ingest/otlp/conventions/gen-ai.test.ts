import { describe, expect, test } from "vitest";
import { mapped } from "../map-span.fixture.ts";

describe("counts made by an instrumentation itself are marked", () => {
  const usage = { "gen_ai.usage.input_tokens": 13, "gen_ai.usage.output_tokens": 12 };
  const scope = "@traceloop/instrumentation-openai";

  test.each([
    ["of a stream, by its attribute", { "gen_ai.operation.name": "chat", "gen_ai.request.stream": true }, true],
    ["of a stream, by the older attribute", { "gen_ai.operation.name": "chat", "llm.is_streaming": true }, true],
    ["of images", { "gen_ai.operation.name": "image_generation" }, true],
    ["not counts of the model", { "gen_ai.operation.name": "chat" }, undefined],
    ["not if the attribute is false", { "gen_ai.request.stream": false }, undefined],
  ])("%s", (_name, attributes, expected) => {
    expect(mapped({ ...attributes, ...usage }, { scope })["usage_is_estimated"]).toBe(expected);
  });

  test("not those of other instrumentations, which pass on the model's counts", () => {
    const body = mapped({ "gen_ai.request.stream": true, ...usage }, { scope: "openlit" });
    expect(body).not.toHaveProperty("usage_is_estimated");
  });
});

test.each(["openai.response.service_tier", "gen_ai.openai.response.service_tier"])(
  "%s sets the tier that prices the call",
  (key) => {
    const body = mapped({ "gen_ai.usage.input_tokens": 1, "gen_ai.usage.output_tokens": 1, [key]: "flex" });
    expect(body["usage"]).toEqual({ service_tier: "flex" });
  },
);

describe("the conventions of 2026", () => {
  test("tokens of each modality, including cached ones", () => {
    const body = mapped({
      "gen_ai.operation.name": "generate_content",
      "gen_ai.request.model": "gemini-2.5-flash-image",
      "gen_ai.usage.input_tokens": 300,
      "gen_ai.usage.cache_read.input_tokens": 60,
      "gen_ai.usage.text.input_tokens": 40,
      "gen_ai.usage.image.input_tokens": 200,
      "gen_ai.usage.audio.input_tokens": 60,
      "gen_ai.usage.image.cache_read.input_tokens": 50,
      "gen_ai.usage.audio.cache_read.input_tokens": 10,
      "gen_ai.usage.output_tokens": 1300,
      "gen_ai.usage.image.output_tokens": 1290,
    });
    expect(body).toMatchObject({
      prompt_tokens: 300,
      completion_tokens: 1300,
      prompt_cache_hit_tokens: 60,
      audio_prompt_tokens: 60,
      usage_details: {
        image_prompt_tokens: 200,
        image_cache_hit_tokens: 50,
        audio_cache_hit_tokens: 10,
        image_completion_tokens: 1290,
      },
      metadata: { "gen_ai.usage.text.input_tokens": 40 },
    });
  });

  test.each([
    ["gen_ai.usage.cache_read_tokens", "prompt_cache_hit_tokens"],
    ["gen_ai.usage.cache_write_tokens", "prompt_cache_creation_tokens"],
    ["gen_ai.usage.cache_creation_tokens", "prompt_cache_creation_tokens"],
    ["gen_ai.usage.details.thinking_tokens", "reasoning_tokens"],
  ])("%s, a name that some exporters use", (key, field) => {
    const body = mapped({ "gen_ai.usage.input_tokens": 50, "gen_ai.usage.output_tokens": 40, [key]: 30 });
    expect(body).toMatchObject({ prompt_tokens: 50, completion_tokens: 40, [field]: 30, metadata: {} });
  });

  test.each([
    ["conversation", "", "workflow"],
    ["conversation", "c".repeat(16), "task"],
    ["speaker_selection", "c".repeat(16), "task"],
    ["code_execution", "c".repeat(16), "tool"],
  ])("AG2's operation %s below '%s'", (operation, parent, type) => {
    const usage = { "gen_ai.usage.input_tokens": 5, "gen_ai.response.model": "gpt-4o" };
    expect(mapped({ "gen_ai.operation.name": operation, ...usage }, { parent })["log_type"]).toBe(type);
  });

  test("tools that ran at the provider keep their input and output", () => {
    const parts = [
      { type: "server_tool_call", id: "s1", name: "code", server_tool_call: { type: "code_interpreter", code: "1+1" } },
      {
        type: "server_tool_call_response",
        id: "s1",
        server_tool_call_response: { type: "code_interpreter", output: "2" },
      },
      { type: "text", content: "2" },
    ];
    const body = mapped({ "gen_ai.output.messages": [{ role: "assistant", parts, finish_reason: "stop" }] });
    const call = { name: "code", arguments: '{"type":"code_interpreter","code":"1+1"}' };
    expect(body["completion_message"]).toEqual({
      role: "assistant",
      content: "2",
      tool_calls: [{ id: "s1", type: "function", function: call }],
    });
    expect(body["completion_messages"]).toContainEqual({
      role: "tool",
      tool_call_id: "s1",
      content: '{"type":"code_interpreter","output":"2"}',
    });
  });

  test("transcripts of audio, and refusals", () => {
    const audio = { type: "blob", modality: "audio", mime_type: "audio/wav", content: "AA", transcript: "hello" };
    const body = mapped({
      "gen_ai.input.messages": [{ role: "user", parts: [audio] }],
      "gen_ai.output.messages": [{ role: "assistant", parts: [{ type: "refusal", content: "No." }] }],
    });
    const spoken = { type: "input_audio", input_audio: { data: "AA", format: "wav", transcript: "hello" } };
    expect(body).toMatchObject({
      prompt_messages: [{ role: "user", content: [spoken] }],
      completion_message: { role: "assistant", content: "", refusal: "No." },
    });
  });

  test("audio tokens by modality", () => {
    const body = mapped({
      "gen_ai.usage.input_tokens": 57,
      "gen_ai.usage.output_tokens": 17,
      "gen_ai.usage.audio.input_tokens": 3,
      "gen_ai.usage.audio.output_tokens": 2,
      "gen_ai.usage.text.input_tokens": 54,
    });
    expect(body).toMatchObject({
      total_tokens: 74,
      audio_prompt_tokens: 3,
      audio_completion_tokens: 2,
      metadata: { "gen_ai.usage.text.input_tokens": 54 },
    });
  });

  test.each([
    ["retrieval", "gen_ai.retrieval.query.text", "gen_ai.retrieval.documents", "task"],
    ["search_memory", "gen_ai.memory.query.text", "gen_ai.memory.records", "task"],
    ["execute_tool", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "tool"],
    ["guardrail.run", "gen_ai.guardrail.input", "gen_ai.guardrail.output", "guardrail"],
  ])("%s has an input and an output", (operation, given, found, log_type) => {
    const body = mapped({ "gen_ai.operation.name": operation, [given]: "x", [found]: [{ id: "d1" }] });
    expect(body).toMatchObject({ log_type, input: "x", output: [{ id: "d1" }] });
  });
});

describe("additions of frameworks to the conventions", () => {
  test.each([
    [
      "openlit in Python",
      { "prompt_tokens_details.cached_tokens": 32, "completion_tokens_details.reasoning_tokens": 5 },
    ],
    ["openlit in JavaScript", { "prompt_tokens_details.cache_read": 32, "completion_tokens_details.reasoning": 5 }],
    ["pydantic-ai", { "details.cache_read_tokens": 32, "details.reasoning_tokens": 5 }],
  ])("details of usage in the names of %s", (_name, details) => {
    const counts = { input_tokens: 57, output_tokens: 17, ...details };
    const attributes = Object.entries(counts).map(([name, count]) => [`gen_ai.usage.${name}`, count]);
    expect(mapped(Object.fromEntries(attributes) as Record<string, unknown>)).toMatchObject({
      total_tokens: 74,
      prompt_cache_hit_tokens: 32,
      reasoning_tokens: 5,
      metadata: {},
    });
  });

  test("Mastra's cache writes by age", () => {
    const body = mapped({
      "gen_ai.usage.input_tokens": 57,
      "gen_ai.usage.cache_creation.input_tokens": 12,
      "gen_ai.usage.cache_creation.5m_input_tokens": 8,
      "gen_ai.usage.cache_creation.1h_input_tokens": 4,
    });
    expect(body).toMatchObject({ prompt_cache_creation_tokens: 12, cache_creation_1h_tokens: 4, metadata: {} });
  });

  test("Strands reports the time to the first byte in milliseconds, others the time to the first token in seconds", () => {
    const attributes = { "gen_ai.server.time_to_first_token": 250 };
    expect(mapped(attributes, { scope: "strands.telemetry.tracer" })["time_to_first_token"]).toBe(0.25);
    expect(mapped(attributes, { scope: "openlit.otel.tracing" })["time_to_first_token"]).toBe(250);
  });

  test("a Strands tool whose call and result are in the details of inference", () => {
    const call = { type: "tool_call", id: "c1", name: "get_weather", arguments: { city: "Paris" } };
    const result = { type: "tool_call_response", id: "c1", response: [{ text: "18" }] };
    const details = (key: string, part: unknown) => ({
      name: "gen_ai.client.inference.operation.details",
      timeNs: 1n,
      attributes: new Map([[key, JSON.stringify([{ role: "tool", parts: [part] }])]]),
    });
    const body = mapped(
      { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather" },
      { events: [details("gen_ai.input.messages", call), details("gen_ai.output.messages", result)] },
    );
    expect(body).toMatchObject({ log_type: "tool", input: '{"city":"Paris"}', output: "18" });
  });

  test("Bedrock's tool schemas", () => {
    const schema = { type: "object", properties: {} };
    const definitions = [{ name: "t", inputSchema: { json: schema } }];
    expect(mapped({ "gen_ai.tool.definitions": JSON.stringify(definitions) })["tools"]).toEqual([
      { type: "function", function: { name: "t", parameters: schema } },
    ]);
  });
});

test.each([
  ["openlit.otel.tracing", "anthropic", 57],
  ["openlit.otel.tracing", "openai", 45],
  ["opentelemetry.instrumentation.anthropic", "anthropic", 45],
])("%s: whether the input of %s includes cached tokens", (scope, provider, prompt_tokens) => {
  const body = mapped(
    {
      "gen_ai.provider.name": provider,
      "gen_ai.usage.input_tokens": 45,
      "gen_ai.usage.output_tokens": 17,
      "gen_ai.usage.cache_read.input_tokens": 12,
    },
    { scope },
  );
  expect(body).toMatchObject({ prompt_tokens, prompt_cache_hit_tokens: 12 });
});

test.each([
  ["texts", "hello", "hi"],
  ["lists of texts, as in Spring AI", '["hello"]', '["hi"]'],
])("gen_ai.prompt and gen_ai.completion as %s", (_name, prompt, completion) => {
  expect(mapped({ "gen_ai.prompt": prompt, "gen_ai.completion": completion })).toMatchObject({
    prompt_messages: [{ role: "user", content: "hello" }],
    completion_message: { role: "assistant", content: "hi" },
    metadata: {},
  });
});

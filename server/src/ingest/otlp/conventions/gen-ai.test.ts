import { describe, expect, test } from "vitest";
import { mapped } from "../map-span.fixture.ts";

describe("counts that an instrumentation made itself are marked", () => {
  const usage = { "gen_ai.usage.input_tokens": 13, "gen_ai.usage.output_tokens": 12 };
  const scope = "@traceloop/instrumentation-openai";

  test.each([
    ["of a stream that says so", { "gen_ai.operation.name": "chat", "gen_ai.request.stream": true }, true],
    ["of a stream in older words", { "gen_ai.operation.name": "chat", "llm.is_streaming": true }, true],
    ["of images", { "gen_ai.operation.name": "image_generation" }, true],
    ["not where the model said them", { "gen_ai.operation.name": "chat" }, undefined],
    ["not where a stream says that it is none", { "gen_ai.request.stream": false }, undefined],
  ])("%s", (_name, attributes, expected) => {
    expect(mapped({ ...attributes, ...usage }, { scope })["usage_is_estimated"]).toBe(expected);
  });

  test("not those of other instrumentations, which pass on what the model said", () => {
    const body = mapped({ "gen_ai.request.stream": true, ...usage }, { scope: "openlit" });
    expect(body).not.toHaveProperty("usage_is_estimated");
  });
});

describe("the conventions of 2026", () => {
  test("tools that ran at the provider keep what they were given and gave back", () => {
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

import { describe, expect, test } from "vitest";
import { json, mapped, user } from "./map-span.fixture.ts";

const exchange = (input: object, output: unknown = "fine, thanks") => ({
  "openinference.span.kind": "LLM",
  "input.value": json(input),
  "output.value": typeof output === "string" ? output : json(output),
});

describe("S1: content that a convention took and did not place stays in metadata, despite equal values elsewhere", () => {
  test.each([
    ["a number within a text", { seed: 12345 }, "Seed 12345 is a good one."],
    ["a number of another field", { seed: 200, retries: 1 }, "n is 1"],
    ["a boolean of another field", { stream: true, store: true }, "yes"],
    ["a word within a text", { city: "Paris" }, "I live in Paris."],
    ["a word that messages have too", { kind: "tool", state: "success", mode: "chat" }, "hello"],
    ["an id and a status", { id: "ticket-991", status: "open", index: 3, created: "2026-01-01" }, "hello"],
    ["numbers named as counts", { cpu_usage: 93, disk_usage: { root: 80 } }, "hello"],
  ])("%s", (_case, state, expected) => {
    const body = mapped({
      ...exchange({ messages: [user(expected)], ...state }),
      "llm.token_count.prompt": 10,
      "llm.token_count.completion": 5,
    });
    const { stream: _stream, ...own } = state as Record<string, unknown>;
    expect(body["prompt_messages"]).toEqual([user(expected)]);
    expect(body["metadata"]).toMatchObject({ "input.value": own });
  });

  test("content of a field, and structure of a request, are not repeated", () => {
    const request = {
      model: "gpt-4o",
      messages: [user("hello")],
      temperature: 0.5,
      max_completion_tokens: 9,
      stream: true,
    };
    const answer = {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "gpt-4o",
      choices: [{ index: 0, message: { role: "assistant", content: "hi", refusal: null }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    };
    const body = mapped(exchange(request, answer));
    expect(body["metadata"]).toEqual({ "openinference.span.kind": "LLM" });
    expect(body).toMatchObject({ temperature: 0.5, max_tokens: 9, stream: true, response_id: "chatcmpl-1" });
  });

  test.each(["length", "content_filter", "refusal"])("the reason why a response ended early is kept: %s", (reason) => {
    const message = { role: "assistant", parts: [{ type: "text", content: "it is" }], finish_reason: reason };
    const body = mapped({ "gen_ai.operation.name": "chat", "gen_ai.output.messages": json([message]) });
    expect(body["metadata"]).toEqual({ "gen_ai.output.messages": [{ finish_reason: reason }] });
  });

  test("the first words of an interrupted response are kept, although the error contains them too", () => {
    const message = { role: "assistant", parts: [{ type: "text", content: "The" }] };
    const attributes = { "gen_ai.operation.name": "chat", "gen_ai.output.messages": json([message]) };
    const body = mapped(attributes, { status: { code: 2, message: "The stream was reset" } });
    expect(body["completion_message"]).toEqual({ role: "assistant", content: "The" });
  });
});

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const chat = { choices: [{ index: 0, message: { role: "assistant", content: "hi" } }], usage };
const responses = {
  id: "resp_1",
  object: "response",
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
};
const gemini = {
  candidates: [{ index: 0, content: { role: "model", parts: [{ text: "hi" }] } }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
};

describe("the usage in the response counts if no attribute states it", () => {
  test.each([
    ["OpenInference", exchange({ model: "gpt-4o", messages: [user("hello")] }, chat), undefined],
    ["Langfuse", { "langfuse.observation.type": "generation", "langfuse.observation.output": json(gemini) }, undefined],
    ["Logfire, of OpenAI", { request_data: json({ model: "gpt-4o" }), response_data: json(chat) }, "logfire.openai"],
    ["Logfire, of agents", { model_name: "gpt-4o", response: json(responses) }, "logfire.openai_agents"],
    ["MLflow", { "mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanOutputs": json(chat) }, undefined],
  ])("%s", (_sdk, attributes, scope) => {
    const body = mapped(attributes, { scope: scope ?? "" });
    expect(body).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
    expect(json(body["metadata"])).not.toMatch(/usage|okens/);
  });

  test("attributes win, and a span that is not a model call has no usage", () => {
    const stated = { ...exchange({ messages: [user("hello")] }, chat), "llm.token_count.prompt": 7 };
    expect(mapped(stated)).toMatchObject({ prompt_tokens: 7 });
    const tool = mapped({ ...stated, "openinference.span.kind": "TOOL", "llm.token_count.prompt": undefined });
    expect(tool["prompt_tokens"]).toBeUndefined();
    expect(json(tool["output"])).toContain("usage");
  });
});

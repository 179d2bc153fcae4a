import { describe, expect, test } from "vitest";
import { assistant, json, mapped, system, tool, user, weatherCall } from "./map-span.fixture.ts";

describe("one message list, however many conventions contain it", () => {
  test("structured messages win, and the others are not stored too", () => {
    const body = mapped({
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.input.messages": json([{ role: "user", parts: [{ type: "text", content: "hello" }] }]),
      "gen_ai.output.messages": json([{ role: "assistant", parts: [{ type: "text", content: "hi" }] }]),
      "gen_ai.prompt.0.role": "user",
      "gen_ai.prompt.0.content": "hello",
      "gen_ai.completion.0.content": "hi",
      "openinference.span.kind": "LLM",
      "llm.input_messages.0.message.role": "user",
      "llm.input_messages.0.message.content": "hello",
      "llm.output_messages.0.message.content": "hi",
      "input.value": json({ messages: [user("hello")] }),
      "output.value": "hi",
      "llm.model_name": "gpt-4o",
    });
    expect(body).toMatchObject({
      prompt_messages: [user("hello")],
      completion_message: assistant("hi"),
      model: "gpt-4o",
    });
    expect(body["input"]).toBeUndefined();
    expect(body["output"]).toBeUndefined();
    expect(body["metadata"]).toEqual({ "openinference.span.kind": "LLM" });
  });

  test.each([
    ["JSON text", (value: unknown) => json(value)],
    ["values", (value: unknown) => value],
  ])("messages as %s", (_name, encode) => {
    const body = mapped({
      "gen_ai.system_instructions": encode([{ type: "text", content: "Be brief." }]),
      "gen_ai.input.messages": encode([{ role: "user", parts: [{ type: "text", content: "hello" }] }]),
    });
    expect(body["prompt_messages"]).toEqual([system("Be brief."), user("hello")]);
  });

  test("instructions as plain text, and truncated JSON as text", () => {
    const body = mapped({ "gen_ai.system_instructions": "Be brief.", "gen_ai.input.messages": '[{"role":"user","par' });
    expect(body["prompt_messages"]).toEqual([system("Be brief."), user('[{"role":"user","par')]);
  });

  test.each([
    ["a message, as in the AI SDK 6", { role: "system", content: "Be brief." }],
    ["messages, as in LiteLLM", [{ role: "system", parts: [{ type: "text", content: "Be brief." }] }]],
    ["an object with parts, as in Gemini", { parts: [{ text: "Be brief." }] }],
    ["text in quotes", '"Be brief."'],
  ])("instructions as %s", (_name, given) => {
    const body = mapped({
      "gen_ai.system_instructions": typeof given === "string" ? given : json(given),
      "gen_ai.input.messages": json([user("hello")]),
    });
    expect(body["prompt_messages"]).toEqual([system("Be brief."), user("hello")]);
  });

  test("every kind of part", () => {
    const parts = [
      { type: "reasoning", content: "hmm" },
      { type: "text", content: "look" },
      { type: "blob", modality: "image", mime_type: "image/png", content: "AAAA" },
      { type: "blob", modality: "audio", mime_type: "audio/wav", data: "BBBB" },
      { type: "uri", modality: "image", uri: "https://example.com/a.png" },
      { type: "file", file_id: "file-1" },
      { type: "tool_call", id: "c1", name: "get_weather", arguments: { city: "Paris" } },
    ];
    expect(mapped({ "gen_ai.output.messages": json([{ role: "assistant", parts }]) })["completion_message"]).toEqual({
      role: "assistant",
      reasoning_content: "hmm",
      content: [
        { type: "text", text: "look" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        { type: "input_audio", input_audio: { data: "BBBB", format: "wav" } },
        { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        { type: "file", file_id: "file-1" },
      ],
      tool_calls: [weatherCall("c1")],
    });
  });

  test.each([
    [
      "nested",
      { type: "function", function: { name: "get_weather", description: "Weather", parameters: { type: "object" } } },
    ],
    ["flat", { type: "function", name: "get_weather", description: "Weather", parameters: { type: "object" } }],
    [
      "the AI SDK's",
      { type: "function", name: "get_weather", description: "Weather", inputSchema: { type: "object" } },
    ],
    ["Anthropic's", { name: "get_weather", description: "Weather", input_schema: { type: "object" } }],
  ])("a tool definition that is %s", (_name, given) => {
    expect(mapped({ "gen_ai.tool.definitions": json([given]) })["tools"]).toEqual([tool()]);
  });

  test("a content of the text null becomes null", () => {
    const body = mapped({
      "gen_ai.prompt.0.role": "assistant",
      "gen_ai.prompt.0.content": "null",
      "gen_ai.prompt.0.tool_calls.0.id": "c1",
      "gen_ai.prompt.0.tool_calls.0.name": "get_weather",
      "gen_ai.prompt.0.tool_calls.0.arguments": '{"city":"Paris"}',
    });
    expect(body["prompt_messages"]).toEqual([{ role: "assistant", content: null, tool_calls: [weatherCall("c1")] }]);
  });
});

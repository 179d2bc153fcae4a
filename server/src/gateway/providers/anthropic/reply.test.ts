import { describe, expect, test } from "vitest";
import { BadReply } from "../provider.ts";
import { call } from "../stream.fixture.ts";
import { anthropicTranslator } from "./translator.ts";

/** Responses in the forms of the Messages page of Anthropic's documentation. */

const reply = (members: object) =>
  anthropicTranslator.reply(
    Buffer.from(
      JSON.stringify({ id: "msg_1", type: "message", role: "assistant", stop_reason: "end_turn", ...members }),
    ),
    call,
  );

const text = (piece: string) => ({ type: "text", text: piece });
const tool = (name: string, input: unknown) => ({ type: "tool_use", id: `toolu_${name}`, name, input });

test("is a chat completion of the caller's model", () => {
  expect(reply({ content: [text("Hel"), text("lo")], usage: { input_tokens: 1, output_tokens: 2 } })).toEqual({
    id: "msg_1",
    object: "chat.completion",
    created: call.created,
    model: call.model,
    choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
    usage: {
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_tokens: 0 },
    },
  });
});

test("has calls with arguments as JSON text, thinking, and no blocks of Anthropic's server tools", () => {
  const signed = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
  const search = { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} };
  const content = [signed, search, tool("a", { n: 1 }), tool("b", {})];
  expect(reply({ content, stop_reason: "tool_use" }).choices[0]).toEqual({
    index: 0,
    message: {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "toolu_a", type: "function", function: { name: "a", arguments: '{"n":1}' } },
        { id: "toolu_b", type: "function", function: { name: "b", arguments: "{}" } },
      ],
      reasoning_content: "Hm.",
      thinking_blocks: [signed],
    },
    finish_reason: "tool_calls",
  });
});

test("keeps every digit of the numbers in arguments", () => {
  const bytes =
    '{"content":[{"type":"tool_use","id":"t","name":"f","input":{"n":12345678901234567890}}],"stop_reason":"tool_use"}';
  const { choices } = anthropicTranslator.reply(Buffer.from(bytes), call);
  expect(choices[0]?.message.tool_calls?.[0]?.function.arguments).toBe('{"n":12345678901234567890}');
});

test("a call of the JSON response tool becomes the content", () => {
  const { choices } = reply({ content: [tool("spanway_json_answer", { a: 1 })], stop_reason: "tool_use" });
  expect(choices[0]).toMatchObject({ message: { role: "assistant", content: '{"a":1}' }, finish_reason: "stop" });
});

test("a refusal has its explanation", () => {
  const stop_details = { type: "refusal", category: "bio", explanation: "Not that." };
  expect(reply({ content: [], stop_reason: "refusal", stop_details }).choices[0]).toEqual({
    index: 0,
    message: { role: "assistant", content: "", refusal: "Not that." },
    finish_reason: "content_filter",
  });
});

describe("usage", () => {
  test.each([
    ["writes", { input_tokens: 3, cache_creation_input_tokens: 12_304, cache_read_input_tokens: 0 }, 12_307, 0, 12_304],
    ["reads", { input_tokens: 6, cache_creation_input_tokens: 0, cache_read_input_tokens: 30_940 }, 30_946, 30_940, 0],
    ["neither", { input_tokens: 9, cache_creation_input_tokens: null, cache_read_input_tokens: null }, 9, 0, 0],
  ])("includes cache %s", (_what, usage, prompt, read, written) => {
    expect(reply({ content: [], usage: { ...usage, output_tokens: 550 } }).usage).toMatchObject({
      prompt_tokens: prompt,
      completion_tokens: 550,
      total_tokens: prompt + 550,
      prompt_tokens_details: { cached_tokens: read, cache_creation_tokens: written },
    });
  });

  test("separates cache writes of an hour and of five minutes, and thinking", () => {
    const cache_creation = { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 90 };
    const usage = { input_tokens: 1, output_tokens: 9, cache_creation_input_tokens: 100, cache_creation };
    const details = { output_tokens_details: { thinking_tokens: 4 } };
    expect(reply({ content: [], usage: { ...usage, ...details } }).usage).toMatchObject({
      cache_creation,
      completion_tokens_details: { reasoning_tokens: 4 },
    });
    expect(reply({ content: [], usage: {} }).usage).toBeUndefined();
  });

  test("reports fast mode as the tier", () => {
    const usage = { input_tokens: 1, output_tokens: 1, service_tier: "standard", speed: "fast" };
    expect(reply({ content: [], usage }).usage?.service_tier).toBe("fast");
    expect(reply({ content: [], usage: { ...usage, speed: "standard" } }).usage?.service_tier).toBe("standard");
  });

  test("reports the number of web searches, and the tier that served the call", () => {
    const server_tool_use = { web_search_requests: 2, web_fetch_requests: 0 };
    const usage = { input_tokens: 105, output_tokens: 6039, server_tool_use, service_tier: "batch" };
    expect(reply({ content: [], usage }).usage).toMatchObject({
      server_tool_use: { web_search_requests: 2 },
      service_tier: "batch",
    });
  });
});

test.each(["", "<html>", "{}", "null", '{"content":"x"}', '{"type":"error"}'])("%j is not a response", (bytes) => {
  expect(() => anthropicTranslator.reply(Buffer.from(bytes), call)).toThrow(BadReply);
});

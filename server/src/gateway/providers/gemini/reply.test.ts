import { describe, expect, test } from "vitest";
import { BadReply } from "../provider.ts";
import { call } from "../stream.fixture.ts";
import {
  blockedPrompt,
  callThenStop,
  citations,
  groundedText,
  groundingMetadata,
  usageOfOwnTool,
} from "./answers.fixture.ts";
import { geminiTranslator } from "./translator.ts";

const reply = (value: object) => geminiTranslator.reply(Buffer.from(JSON.stringify(value)), call);
const answer = (parts: object[], more: object = {}) =>
  reply({
    candidates: [{ content: { parts, role: "model" }, finishReason: "STOP", index: 0, ...more }],
    responseId: "r1",
  });

test("is a chat completion of the caller's model", () => {
  const value = reply({
    candidates: [{ content: { parts: [{ text: "Hel" }, { text: "lo" }] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
    responseId: "r1",
  });
  expect(value).toEqual({
    id: "r1",
    object: "chat.completion",
    created: call.created,
    model: call.model,
    choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, prompt_tokens_details: { cached_tokens: 0 } },
  });
});

test("web pages that ground a response are annotations", () => {
  const [choice] = answer([{ text: groundedText }], { groundingMetadata }).choices;
  expect(choice?.message).toEqual({ role: "assistant", content: groundedText, annotations: citations });
});

test("searches and the tier that served the call are part of the usage", () => {
  const usageOf = (usageMetadata: object) =>
    reply({
      candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "STOP", groundingMetadata }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, ...usageMetadata },
    }).usage;
  const searched = { server_tool_use: { web_search_requests: 2 } };
  expect(usageOf({ serviceTier: "FLEX" })).toMatchObject({ ...searched, service_tier: "flex" });
  // The form of Vertex AI.
  expect(usageOf({ trafficType: "ON_DEMAND_PRIORITY" })).toMatchObject({ ...searched, service_tier: "priority" });
  expect(usageOf({ trafficType: "ON_DEMAND" })).not.toHaveProperty("service_tier");
});

test("has thoughts, calls and their signatures, and no parts of Gemini's own tools", () => {
  const [choice] = answer([
    { text: "Hm.", thought: true },
    { executableCode: { language: "PYTHON", code: "1" } },
    { functionCall: { name: "a", args: { n: 1 }, id: "own" }, thoughtSignature: "c2ln" },
    { functionCall: { name: "a" } },
  ]).choices;
  expect(choice).toEqual({
    index: 0,
    message: {
      role: "assistant",
      content: null,
      reasoning_content: "Hm.",
      tool_calls: [
        {
          id: "own",
          type: "function",
          function: { name: "a", arguments: '{"n":1}' },
          extra_content: { google: { thought_signature: "c2ln" } },
        },
        {
          id: expect.stringMatching(/^call_[\w-]{24}$/) as unknown,
          type: "function",
          function: { name: "a", arguments: "{}" },
        },
      ],
    },
    finish_reason: "tool_calls",
  });
});

test("keeps every digit of the numbers in arguments", () => {
  const bytes =
    '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":12345678901234567890}}}]},"finishReason":"STOP"}]}';
  const { choices } = geminiTranslator.reply(Buffer.from(bytes), call);
  expect(choices[0]?.message.tool_calls?.[0]?.function.arguments).toBe('{"n":12345678901234567890}');
});

test("counts input of Gemini's tools as prompt, thoughts as output, and audio separately", () => {
  const usage = (usageMetadata: object) => reply({ ...callThenStop[1], usageMetadata }).usage;
  expect(usage(usageOfOwnTool)).toEqual({
    service_tier: "standard",
    prompt_tokens: 144,
    completion_tokens: 107,
    total_tokens: 251,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 56 },
  });
  expect(
    usage({
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 9,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 70 },
        { modality: "AUDIO", tokenCount: 30 },
      ],
      candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 5 }],
    }),
  ).toMatchObject({
    prompt_tokens_details: { cached_tokens: 60, audio_tokens: 30 },
    completion_tokens_details: { audio_tokens: 5 },
  });
  expect(usage({ trafficType: "ON_DEMAND" })).toBeUndefined();
});

describe("that was withheld", () => {
  test("states why", () => {
    expect(reply(blockedPrompt).choices).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "", refusal: "The prompt was blocked: PROHIBITED_CONTENT" },
        finish_reason: "content_filter",
      },
    ]);
    expect(answer([], { finishReason: "SAFETY", finishMessage: "Not that." }).choices[0]).toMatchObject({
      message: { content: "", refusal: "Not that." },
      finish_reason: "content_filter",
    });
  });
});

test("of several candidates has as many choices", () => {
  const candidate = (text: string, index: number) => ({ content: { parts: [{ text }] }, finishReason: "STOP", index });
  expect(reply({ candidates: [candidate("a", 0), candidate("b", 1)] }).choices).toMatchObject([
    { index: 0, message: { content: "a" } },
    { index: 1, message: { content: "b" } },
  ]);
});

test.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", undefined])(
  "%s is no answer",
  (finishReason) => {
    expect(() => answer([{ text: "x" }], { finishReason })).toThrow(BadReply);
  },
);

import { expect, test } from "vitest";
import { BadReply } from "../provider.ts";
import { call } from "../stream.fixture.ts";
import { bedrockTranslator } from "./translator.ts";

const reply = (content: unknown[], members: object = {}) =>
  bedrockTranslator.reply(
    Buffer.from(
      JSON.stringify({ output: { message: { role: "assistant", content } }, stopReason: "end_turn", ...members }),
    ),
    call,
  ).choices[0];

test("has reasoning, cited text and calls", () => {
  const content = [
    { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } },
    { reasoningContent: { redactedContent: "eA==" } },
    { citationsContent: { content: [{ text: "As it says" }], citations: [] } },
    { text: "." },
    { toolUse: { toolUseId: "s", name: "search", input: {}, type: "server_tool_use" } },
    { toolUse: { toolUseId: "a", name: "weather", input: { n: 1 } } },
  ];
  expect(reply(content, { stopReason: "tool_use" })).toEqual({
    index: 0,
    finish_reason: "tool_calls",
    message: {
      role: "assistant",
      content: "As it says.",
      reasoning_content: "Hm.",
      thinking_blocks: [
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "redacted_thinking", data: "eA==" },
      ],
      tool_calls: [{ id: "a", type: "function", function: { name: "weather", arguments: '{"n":1}' } }],
    },
  });
});

test("cited web pages are annotations; documents have no URL", () => {
  const citations = [
    { location: { web: { url: "https://a.example", domain: "a.example" } }, title: "A" },
    { location: { web: { url: "https://b.example" } } },
    { location: { documentPage: { documentIndex: 0, start: 1, end: 2 } }, title: "Own" },
  ];
  const content = [{ text: "So: " }, { citationsContent: { content: [{ text: "As it says." }], citations } }];
  expect(reply(content)?.message).toEqual({
    role: "assistant",
    content: "So: As it says.",
    annotations: [
      { type: "url_citation", url_citation: { url: "https://a.example", title: "A", start_index: 4, end_index: 15 } },
      { type: "url_citation", url_citation: { url: "https://b.example", title: "", start_index: 4, end_index: 15 } },
    ],
  });
});

test("a call of the JSON response tool becomes the content", () => {
  const answer = { toolUse: { toolUseId: "a", name: "spanway_json_answer", input: { a: 1 } } };
  expect(reply([answer], { stopReason: "tool_use" })).toMatchObject({
    message: { content: '{"a":1}' },
    finish_reason: "stop",
  });
});

test("malformed model output is not a response", () => {
  expect(() => reply([{ text: "{" }], { stopReason: "malformed_tool_use" })).toThrow(BadReply);
});

test.each([
  [400, "ValidationException", "request"],
  [400, "ServiceQuotaExceededException", "busy"],
  [403, "AccessDeniedException", "credential"],
  [403, "ExpiredTokenException", "credential"],
  [404, "ResourceNotFoundException", "request"],
  [408, "ModelTimeoutException", "busy"],
  [424, "ModelErrorException", "fault"],
  [429, "ThrottlingException", "busy"],
  [429, "ModelNotReadyException", "busy"],
  [500, "InternalServerException", "fault"],
  [503, "ServiceUnavailableException", "busy"],
])("%d %s is a %s", (status, type, kind) => {
  const problem = { kind, status, type, message: "Told so" };
  const headers = { "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/` };
  expect(bedrockTranslator.problem(status, headers, Buffer.from('{"message":"Told so"}'))).toEqual(problem);
  const body = JSON.stringify({ __type: `com.amazon.coral#${type}`, Message: "Told so" });
  expect(bedrockTranslator.problem(status, {}, Buffer.from(body))).toEqual(problem);
});

import { describe, expect, test } from "vitest";
import { createChatDigest, type ChatDigest } from "./chat-digest.ts";

type Row = Record<string, unknown>;

function digestOf(deltas: readonly Row[], members: Row = {}): ChatDigest {
  const digest = createChatDigest();
  for (const delta of deltas) digest.add({ id: "c-1", choices: [{ index: 0, delta }], ...members });
  return digest;
}

describe("deltas in provider-specific forms become one message", () => {
  test.each<[string, Row[], Row]>([
    [
      "calls of a custom tool",
      [
        { tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "sql", input: "SELECT" } }] },
        { tool_calls: [{ index: 0, custom: { input: " 1" } }] },
      ],
      { content: null, tool_calls: [{ id: "c", type: "custom", custom: { name: "sql", input: "SELECT 1" } }] },
    ],
    [
      "members attached to a call",
      [
        {
          tool_calls: [{ index: 0, id: "g", function: { name: "f", arguments: "{}" }, extra_content: { google: {} } }],
        },
      ],
      { tool_calls: [{ id: "g", function: { name: "f", arguments: "{}" }, extra_content: { google: {} } }] },
    ],
    [
      "the legacy function_call",
      [
        { function_call: { name: "f", arguments: "" } },
        { function_call: { arguments: '{"a"' } },
        { function_call: { arguments: ":1}" } },
      ],
      { function_call: { name: "f", arguments: '{"a":1}' } },
    ],
    [
      "a spoken answer",
      [
        { audio: { id: "a-1" } },
        { audio: { transcript: "Hel" } },
        { audio: { transcript: "lo" } },
        { audio: { expires_at: 9 } },
      ],
      { audio: { id: "a-1", transcript: "Hello", expires_at: 9 } },
    ],
    [
      "reasoning under both of its names",
      [
        { reasoning: "be", reasoning_content: "be" },
        { reasoning: "cause", reasoning_content: "cause" },
      ],
      { reasoning_content: "because" },
    ],
    [
      "content in parts, then in text",
      [
        { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
        { content: [{ type: "text", text: "Hel" }] },
        { content: "lo" },
      ],
      { content: "Hello", reasoning_content: "hm" },
    ],
    [
      "annotations",
      [{ content: "x" }, { annotations: [{ type: "url_citation" }] }],
      { content: "x", annotations: [{ type: "url_citation" }] },
    ],
  ])("%s", (_what, deltas, message) => {
    expect(digestOf(deltas).messages()).toMatchObject([message]);
  });

  test("a first chunk without a name, as Azure's is, does not name the stream", () => {
    const digest = createChatDigest();
    digest.add({ id: "", model: "", created: 0, choices: [], prompt_filter_results: [] });
    digest.add({ id: "c-1", model: "gpt-4o", created: 7, choices: [{ index: 0, delta: { content: "x" } }] });
    expect([digest.id(), digest.model(), digest.created()]).toEqual(["c-1", "gpt-4o", 7]);
  });
});

import { describe, expect, test } from "vitest";
import { createOutputSoFar, messageOfOutput } from "./output-so-far.ts";

type Row = Record<string, unknown>;

const output = [
  { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "Hm. Well." }] },
  { type: "web_search_call", id: "w", status: "completed" },
  { type: "message", id: "m", content: [{ type: "output_text", text: "Hello there." }] },
  { type: "message", id: "n", content: [{ type: "refusal", refusal: "Not that." }] },
  { type: "function_call", id: "f", call_id: "call_f", name: "weather", arguments: '{"a":1}' },
  { type: "custom_tool_call", id: "c", call_id: "call_c", name: "sql", input: "SELECT 1" },
];

/** The same response as stream events, with each text in two pieces. */
const events: Array<[type: string, event: Row]> = [
  ["response.created", { response: {} }],
  ["response.output_item.added", { item: { ...output[0], summary: [] } }],
  ...inTwo("response.reasoning_summary_text.delta", "r", "Hm. Well."),
  ...inTwo("response.output_text.delta", "m", "Hello there."),
  ...inTwo("response.refusal.delta", "n", "Not that."),
  ["response.output_item.added", { item: { ...output[4], arguments: "" } }],
  ...inTwo("response.function_call_arguments.delta", "f", '{"a":1}'),
  ["response.output_item.added", { item: { ...output[5], input: "" } }],
  ...inTwo("response.custom_tool_call_input.delta", "c", "SELECT 1"),
];

function inTwo(type: string, item_id: string, text: string): Array<[string, Row]> {
  return [text.slice(0, 3), text.slice(3)].map((delta) => [type, { type, item_id, delta }]);
}

describe("the content of a response", () => {
  test("becomes a chat message, from the whole response and from a stream", () => {
    const whole = messageOfOutput(output);
    expect(whole).toEqual({
      role: "assistant",
      content: "Hello there.",
      refusal: "Not that.",
      reasoning_content: "Hm. Well.",
      tool_calls: [
        { id: "call_f", type: "function", function: { name: "weather", arguments: '{"a":1}' } },
        { id: "call_c", type: "custom", custom: { name: "sql", input: "SELECT 1" } },
      ],
    });
    const collected = createOutputSoFar();
    const messages = events.map(([type, event]) => collected.add(type, event));
    expect(messages[0]).toBeUndefined();
    expect(messages[4]).toMatchObject({ content: "Hel", reasoning_content: "Hm. Well." });
    expect(messages.at(-1)).toEqual(whole);
  });

  test.each([undefined, null, "x", [null, 7, { type: "message", content: "x" }]])("is empty for %j", (odd) => {
    expect(messageOfOutput(odd)).toEqual({ role: "assistant", content: "" });
  });
});

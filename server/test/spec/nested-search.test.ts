import { afterAll, beforeAll, expect, test } from "vitest";
import { listSpans, settle, sortedValues, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";

/** `contains` and `icontains` find text inside JSON that is the content of a string within JSON, in every payload field. */

let app: TestApp;
const text = 'Zoë said "hi"\nthere';
const once = JSON.stringify({ note: text });
const twice = JSON.stringify({ result: once });
const calls = [{ id: "c", type: "function", function: { name: "note", arguments: once } }];

const spans: Record<string, object> = {
  input: { input: JSON.stringify({ question: once }) },
  "input, twice": { input: JSON.stringify([twice]) },
  output: { output: JSON.stringify({ answer: once }) },
  "prompt message": { prompt_messages: [{ role: "user", content: once }] },
  "prompt tool call": { prompt_messages: [{ role: "assistant", tool_calls: calls }] },
  "tool result": { prompt_messages: [{ role: "tool", tool_call_id: "c", content: [{ type: "text", text: once }] }] },
  "completion message": { completion_message: { role: "assistant", content: once } },
  "completion messages": { completion_messages: [{ role: "assistant", content: once }] },
  "tool calls": { tool_calls: calls },
  metadata: { metadata: { note: once } },
  "nested metadata": { metadata: { deep: { note: twice } } },
  properties: { properties: { note: once } },
  "another text": { output: JSON.stringify({ answer: JSON.stringify({ note: 'Zoë said "hi"\\nthere' }) }) },
};
beforeAll(async () => {
  app = await startTestApp();
  await storeSpans(
    app.prod,
    Object.entries(spans).map(([name, span]) => ({ custom_identifier: name, ...span })),
  );
  await settle(app.prod);
});
afterAll(() => app.stop());

const prompts = ["input", "input, twice", "prompt message", "prompt tool call", "tool result"];
const answers = ["completion message", "completion messages", "output"];

test.each<[field: string, found: string[]]>([
  ["input", prompts],
  ["output", answers],
  ["messages", [...prompts, ...answers]],
  ["any_text", [...prompts, ...answers]],
  ["prompt_messages", ["prompt message", "prompt tool call", "tool result"]],
  ["completion_message", ["completion message", "completion messages"]],
  ["completion_messages", ["completion messages"]],
  ["tool_calls", ["tool calls"]],
  ["metadata", ["metadata", "nested metadata"]],
  ["metadata__note", ["metadata"]],
  ["metadata__deep", ["nested metadata"]],
  ["metadata__deep__note", ["nested metadata"]],
  ["properties", ["properties"]],
])("in %s", async (field, found) => {
  for (const [operator, value] of [
    ["contains", text],
    ["icontains", text.toUpperCase()],
  ]) {
    const { results } = await listSpans(app.prod, { [field]: { operator, value: [value] } }, "page_size=100");
    expect([operator, ...sortedValues(results, "custom_identifier")]).toEqual([operator, ...found.toSorted()]);
  }
  const { count } = await listSpans(app.prod, { [field]: { operator: "contains", value: [text.toUpperCase()] } });
  expect(count).toBe(0);
});

import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { testKeys } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { unique } from "../support/unique.ts";

const headers = { authorization: `Bearer ${testKeys.prod}` };
const question = { role: "user", content: "When does the next flight to Oslo leave?" };
const found = { role: "tool", tool_call_id: "call_1", content: "SK 461 at 12:40" };
const request = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "call_1", type: "function", function: { name: "find_flight", arguments: '{"to":"OSL"}' } }],
};

/** An agent that calls a model, then a tool, then the model again; the second answer takes most of the time. */
function agentTrace(trace: string) {
  const start = Date.now() - 60_000;
  const span = (id: string, name: string, type: string, fromS: number, toS: number, more: object) => ({
    trace_unique_id: trace,
    trace_name: trace,
    span_unique_id: id,
    span_name: name,
    log_type: type,
    start_time: new Date(start + fromS * 1000).toISOString(),
    timestamp: new Date(start + toS * 1000).toISOString(),
    ...more,
  });
  const below = { span_parent_id: "agent" };
  return [
    span("agent", trace, "agent", 0, 10, {}),
    span("plan", "plan", "chat", 0, 1, { ...below, model: "gpt-4o", prompt_messages: [question], output: request }),
    span("tool", "find_flight", "tool", 1, 2, { ...below, input: '{"to":"OSL"}', output: found.content }),
    span("answer", "answer", "chat", 2, 9.5, {
      ...below,
      model: "gpt-4o",
      prompt_messages: [question, request, found],
      completion_message: { role: "assistant", content: "It leaves at 12:40." },
    }),
  ];
}

browserTest(
  "an agent developer sees the steps, the durations and the model's input on one screen and in 4 clicks",
  async () => {
    const page = await open("/");
    const trace = unique("oslo-agent");
    const sent = await page.request.post("/api/v1/traces/ingest", { headers, data: agentTrace(trace) });
    expect(sent.status()).toBe(200);
    const stored = () => page.request.get(`/api/traces/${trace}/?tree=slim`, { headers }).then((it) => it.status());
    await expect.poll(stored).toBe(200);
    let clicks = 0;
    const click = async (target: Locator): Promise<void> => {
      await target.click();
      clicks += 1;
    };

    await click(page.getByRole("link", { name: "Traces", exact: true }));
    await click(page.getByRole("row", { name: new RegExp(trace) }));
    const tree = page.getByRole("treegrid");
    const step = (name: string) => tree.getByRole("row").filter({ hasText: name });
    // The steps, in order.
    await expect
      .poll(() => tree.locator("[role=row][aria-level]").evaluateAll((rows) => rows.map((row) => row.ariaLevel)))
      .toEqual(["1", "2", "2", "2"]);
    for (const name of ["plan", "find_flight", "answer"]) await step(name).waitFor();
    // The durations.
    await click(page.getByRole("button", { name: "Slowest" }));
    const slowest = step("answer");
    await expect.poll(() => tree.getAttribute("aria-activedescendant")).toBe(await slowest.getAttribute("id"));
    await slowest.getByText("7.5 s").first().waitFor();
    // The input of the model, beside the tree.
    await click(slowest);
    const span = page.getByRole("complementary", { name: "Span" });
    const conversation = span.getByLabel("Conversation");
    for (const text of [found.content, "It leaves at 12:40."]) await conversation.getByText(text).first().waitFor();
    await step("plan").waitFor();
    expect(clicks).toBe(4);
    // Messages of an earlier step are collapsed.
    await conversation.getByText(/earlier message/).click();
    await conversation.getByText(question.content).first().waitFor();
  },
);

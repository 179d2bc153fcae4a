import { describe, expect, test } from "vitest";
import { calls, claude } from "./expected.ts";
import { runGatewayClient, summariesOf, type GatewayRun } from "./run-gateway-client.ts";
import { capital, forecast, refusal } from "./upstream/scene.ts";

/** Anthropic's Messages API with clients that know only the gateway's URL and a key. */

/** Priced like the model in `claude`, which is so old that the vendor's SDK warns of it. */
const model = "claude-sonnet-4-6";
const counted = { type: "chat", model, ...claude.counted };

/** Checks the callers' parameters and the cost of the spans, for any SDK. */
function expectRecorded({ spans }: GatewayRun): void {
  for (const name of ["text", "stream", "tools"]) {
    for (const summary of summariesOf(spans)[name] ?? [])
      expect([name, summary]).toEqual([name, expect.objectContaining(counted)]);
  }
  expect(spans["text"]).toMatchObject([
    {
      stream: false,
      customer_identifier: "customer-1",
      thread_identifier: "thread-1",
      prompt_messages: [{ role: "user", content: expect.anything() }],
      completion_message: { role: "assistant", content: capital },
    },
  ]);
  expect(spans["stream"]).toMatchObject([{ stream: true, completion_message: { content: capital } }]);
  expect(spans["tools"]).toMatchObject([
    {
      tools: [{ type: "function", function: { name: "get_weather" } }],
      completion_message: { tool_calls: [{ function: { name: "get_weather" } }, {}] },
    },
    {
      prompt_messages: [
        { role: "user" },
        { role: "assistant", tool_calls: [{}, {}] },
        { role: "tool", content: '{"tempC":18}' },
        { role: "tool", content: '{"tempC":24}' },
      ],
      completion_message: { content: forecast },
    },
  ]);
  expect(spans["refused"]).toMatchObject([{ status_code: 400, error_message: refusal, cost: 0 }]);
}

test("@anthropic-ai/sdk", async () => {
  const run = await runGatewayClient("messages-sdk.ts", [model]);
  const threw = (name: string, status: number, message: RegExp): object => ({
    threw: { name, status, message: expect.stringMatching(message) },
  });
  const refused = threw("BadRequestError", 400, new RegExp(refusal));
  expect(run.cases).toMatchObject({
    text: { text: capital, finish: "end_turn", model, hasRequestId: true },
    token: { text: capital },
    stream: { text: capital, finish: "end_turn", isPiecemeal: true },
    count: { input_tokens: 57 },
    beta: { text: capital },
    tools: { finish: "tool_use", calls, text: forecast },
    refused,
    "refused stream": refused,
    "bad key": threw("AuthenticationError", 401, /authentication_error/),
    "another provider": threw("BadRequestError", 400, /anthropic alone/),
    nowhere: threw("NotFoundError", 404, /not_found_error/),
    abort: { isAborted: true },
  });
  expectRecorded(run);
  expect(run.spans["count"]).toMatchObject([{ log_type: "custom", cost: 0, total_tokens: null }]);
  expect(run.spans["abort"]).toMatchObject([{ status_code: 499 }]);
});

describe("SDKs over it", () => {
  test("@ai-sdk/anthropic", async () => {
    const run = await runGatewayClient("messages-ai-sdk.ts", [model]);
    expect(run.cases).toMatchObject({
      text: { text: capital, finish: "stop" },
      stream: { text: capital, finish: "stop", isPiecemeal: true },
      tools: { calls, text: forecast },
      refused: { threw: { status: 400, message: refusal } },
    });
    expectRecorded(run);
  });

  test("@langchain/anthropic", async () => {
    const run = await runGatewayClient("messages-langchain.ts", [model]);
    expect(run.cases).toMatchObject({
      text: { text: capital, finish: "end_turn" },
      stream: { text: capital, isPiecemeal: true },
      tools: { calls, text: forecast },
      refused: { threw: { status: 400, message: expect.stringContaining(refusal) } },
    });
    expectRecorded(run);
  });
});

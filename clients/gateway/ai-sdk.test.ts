import { expect, test } from "vitest";
import { expectedCases, expectedSpans, expectWhole, openai } from "./expected.ts";
import { runGatewayClient, summariesOf } from "./run-gateway-client.ts";

type Case = { finish?: string; threw?: { status: number; message: string }; breakdown?: unknown };

/** The same results in the SDK's vocabulary. */
function inItsWords(cases: Record<string, unknown>): Record<string, unknown> {
  const expectations = Object.entries(cases as Record<string, Case>).map(([name, one]) => {
    if (one.finish === "tool_calls") return [name, { ...one, finish: "tool-calls" }] as const;
    if (one.threw === undefined) return [name, one] as const;
    const { status, message } = one.threw;
    const text = typeof message === "string" ? message.replace(`${status} `, "") : message;
    return [name, { threw: { name: "APICallError", status, message: text } }] as const;
  });
  return Object.fromEntries(expectations);
}

test("the Vercel AI SDK's @ai-sdk/openai-compatible", async () => {
  const run = await runGatewayClient("ai-sdk.ts", [openai.model, "openai-compatible"]);
  expect(run.cases).toEqual(inItsWords(expectedCases(openai)));
  expect(summariesOf(run.spans)).toEqual(expectedSpans(openai));
  expectWhole(run.spans, openai);
});

/** The SDK drops unknown members of a stream. */
test("the Vercel AI SDK's @ai-sdk/openai, .chat", async () => {
  const run = await runGatewayClient("ai-sdk.ts", [openai.model, "openai"]);
  const expected = inItsWords(expectedCases(openai));
  const { breakdown: _, ...streamed } = expected["streamed breakdown"] as Case;
  expect(run.cases).toEqual({ ...expected, "streamed breakdown": streamed });
  expect(summariesOf(run.spans)).toEqual(expectedSpans(openai));
  expectWhole(run.spans, openai);
});

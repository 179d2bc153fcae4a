import { expect, test } from "vitest";
import { expectedCases, expectedSpans, expectWhole, openai } from "./expected.ts";
import { runGatewayClient, summariesOf } from "./run-gateway-client.ts";

/**
 * LangChain retries every unknown status, including 424, up to six times: the case of the failed upstream turns that
 * off. It drops the breakdown of a stream, but none of the text.
 */
test("@langchain/openai", async () => {
  const run = await runGatewayClient("langchain.ts", [openai.model]);
  const expected = expectedCases(openai);
  const { breakdown: _, ...streamed } = expected["streamed breakdown"] as { breakdown: unknown };
  expect(run.cases).toEqual({ ...expected, "streamed breakdown": streamed });
  expect(summariesOf(run.spans)).toEqual(expectedSpans(openai));
  expectWhole(run.spans, openai);
});

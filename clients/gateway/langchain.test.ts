import { expect, test } from "vitest";
import { expectedCases, expectedSpans, expectWhole, openai } from "./expected.ts";
import { runGatewayClient, summariesOf } from "./run-gateway-client.ts";

/**
 * Its own caller retries every status that it does not know, 424 among them, up to six times: the case of the failed upstream
 * turns that off. Of a stream's breakdown it keeps nothing, and loses nothing of the text either.
 */
test("@langchain/openai", async () => {
  const run = await runGatewayClient("langchain.ts", [openai.model]);
  const expected = expectedCases(openai);
  const { breakdown: _, ...streamed } = expected["streamed breakdown"] as { breakdown: unknown };
  expect(run.cases).toEqual({ ...expected, "streamed breakdown": streamed });
  expect(summariesOf(run.spans)).toEqual(expectedSpans(openai));
  expectWhole(run.spans, openai);
});

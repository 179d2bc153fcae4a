import { describe, expect, test } from "vitest";
import { claude, expectedCases, expectedSpans, expectWhole, gemini, openai } from "./expected.ts";
import { runGatewayClient, summariesOf } from "./run-gateway-client.ts";

describe("the openai SDK", () => {
  test.each([openai, claude, gemini])("over $provider", async (shape) => {
    const run = await runGatewayClient("openai.ts", [shape.model]);
    expect(run.cases).toEqual(expectedCases(shape));
    expect(summariesOf(run.spans)).toEqual(expectedSpans(shape));
    expectWhole(run.spans, shape);
  });
});

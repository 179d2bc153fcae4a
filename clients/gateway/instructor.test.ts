import { expect, test } from "vitest";
import { expectedCases, expectedSpans, expectWhole, openai } from "./expected.ts";
import { questions } from "./programs/questions.ts";
import { runGatewayClient, summariesOf } from "./run-gateway-client.ts";
import { person } from "./upstream/scene.ts";

/** It adds structured outputs to the openai SDK: by the arguments of a tool or by JSON, complete or streamed. */
test("@instructor-ai/instructor", async () => {
  const run = await runGatewayClient("instructor.ts", [openai.model]);
  const _meta = { usage: expect.objectContaining({ prompt_tokens: 57, completion_tokens: 17 }) as unknown };
  const growing = { value: person, isPiecemeal: true };
  expect(run.cases).toEqual({
    ...expectedCases(openai),
    "person by TOOLS": { value: { ...person, _meta } },
    "streamed person by TOOLS": growing,
    "person by JSON": { value: { ...person, _meta } },
    "streamed person by JSON": growing,
  });
  const text = JSON.stringify(person);
  const tags = { type: "chat", model: openai.model, thread: "thread-1", customer: "customer-1", ...openai.counted };
  const byTool = { ...tags, prompt: [`user: ${questions.person}`], answer: `Person(${text})`, tools: "Person{}" };
  const byJson = { ...tags, prompt: [expect.stringMatching(/^system: /), `user: ${questions.person}`], answer: text };
  expect(summariesOf(run.spans)).toEqual({
    ...expectedSpans(openai),
    "person by TOOLS": [byTool],
    "streamed person by TOOLS": [{ ...byTool, streamed: true }],
    "person by JSON": [byJson],
    "streamed person by JSON": [{ ...byJson, streamed: true }],
  });
  expectWhole(run.spans, openai);
});

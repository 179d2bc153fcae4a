import { afterAll, beforeAll, expect, test } from "vitest";
import { storeSpans, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("a span that is its own parent counts what it used", async () => {
  const { prod } = await app.newOrganization();
  const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 1, log_type: "chat" };
  await storeSpans(prod, [{ trace_unique_id: "t", span_unique_id: "s", span_parent_id: "s", ...usage }]);
  expect(await summarize(prod)).toMatchObject({ number_of_requests: 1, total_cost: 1, total_tokens: 15 });
});

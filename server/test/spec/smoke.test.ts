import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("a span that was created is listed, retrieved and summed", async () => {
  const { prod } = await app.newOrganization();
  const created = await prod.post("/api/request-logs/", { model: "gpt-4o", prompt_tokens: 10, completion_tokens: 2 });
  expect(created.status).toBe(201);
  const { unique_id } = created.json as { unique_id: string };
  const { results } = await prod.waitForSpans(1);
  expect(results).toMatchObject([{ unique_id, model: "gpt-4o" }]);
  expect((await prod.get(`/api/request-logs/${unique_id}/`)).json).toMatchObject({ unique_id, prompt_tokens: 10 });
  expect((await prod.post("/api/request-logs/summary/")).json).toMatchObject({
    number_of_requests: 1,
    total_tokens: 12,
  });
});

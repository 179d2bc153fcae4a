import { afterAll, beforeAll, expect, test } from "vitest";
import { completion, question } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers } from "../support/scripted-upstream.ts";

let gateway: TestGateway;
beforeAll(async () => {
  // Nothing listens on this port.
  gateway = await startTestGateway({ SPANWAY_CACHE_URL: "redis://127.0.0.1:1" });
});
afterAll(() => gateway.stop());

test("while Redis is down, calls that use the response cache are answered by their provider", async () => {
  gateway.upstream.script(answers(200, completion()));
  const body = { model: "gpt-4o", messages: [question], cache_enabled: true };
  for (const nth of [1, 2]) {
    const answer = await gateway.app.prod.post("/api/chat/completions", body);
    const { status, headers, text } = answer;
    expect([nth, status, headers.get("x-spanway-cache"), text]).toEqual([
      nth,
      200,
      "miss",
      JSON.stringify(completion()),
    ]);
  }
  expect(gateway.upstream.requests).toHaveLength(2);
  const { text } = await gateway.app.prod.get("/metrics");
  expect(Number(/^spanway_cache_failures_total (\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(2);
});

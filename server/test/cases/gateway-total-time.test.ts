import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { question } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers } from "../support/scripted-upstream.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ SPANWAY_UPSTREAM_TOTAL_MS: "1000" });
});
afterAll(() => gateway.stop());

test("the time for a call is one for all of its attempts", async () => {
  gateway.upstream.script(async (connection, request) => {
    await sleep(700);
    return answers(500, { error: { message: "Try again." } })(connection, request);
  });
  const began = performance.now();
  const retry_params = { retry_enabled: true, num_retries: 10, retry_after: 0.01 };
  const answer = await gateway.app.prod.post("/v1/chat/completions", {
    model: "gpt-4o",
    messages: [question],
    retry_params,
  });
  // The second attempt had what the first one left.
  expect(answer.status).toBe(424);
  expect(answer.headers.get("x-spanway-attempts")).toBe("2");
  expect(performance.now() - began).toBeLessThan(3_000);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { newAutomation, newCondition, newEvaluator } from "../support/evaluation.ts";
import { bodyOf, createSpan } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

/** Members that an operation does not know are refused by name, not passed over: customers, automations, webhooks. */

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  prod = app.prod;
});
afterAll(() => app.stop());

/** Makes one, and answers where it is. */
const resources: Record<string, () => Promise<{ collection: string; own: string }>> = {
  customer: async () => {
    await prod.post("/api/users/", { customer_identifier: "ann" });
    return { collection: "/api/users/", own: "/api/users/ann/" };
  },
  webhook: async () => {
    const hook = { url: "https://example.com/hook", name: "Hook", event_type: "request_log" };
    return placed("/api/webhooks/", bodyOf(await prod.post("/api/webhooks/", hook)));
  },
  condition: async () => placed("/api/conditions/", await newCondition(prod)),
  evaluator: async () => placed("/api/evaluators/", await newEvaluator(prod)),
  automation: async () => placed("/api/automations/", await newAutomation(prod)),
  score: async () => {
    const evaluator = await newEvaluator(prod, { type: "human", code_config: null });
    const log = await createSpan(prod, { output: "x" });
    const score = { log_id: log["unique_id"], evaluator_id: evaluator["id"], numerical_value: 1 };
    return placed("/api/scores/", bodyOf(await prod.post("/api/scores/", score)));
  },
};

function placed(collection: string, { id }: Row): { collection: string; own: string } {
  return { collection, own: `${collection}${String(id)}/` };
}

test.each(Object.keys(resources))("a slip of the pen in the body of a %s is named", async (name) => {
  const { collection, own } = await resources[name]!();
  for (const [method, path] of [
    ["PATCH", own],
    ["POST", collection],
  ] as const) {
    const answer = await prod.request(method, path, { naem: "A", perod_budget: 1 });
    expect([method, answer.status]).toEqual([method, 400]);
    const { errors, ...rest } = bodyOf(answer);
    expect(Object.keys((errors as Row | undefined) ?? rest)).toEqual(["naem", "perod_budget"]);
  }
});

test.each(Object.keys(resources))("what was read of a %s can be sent back", async (name) => {
  const { own } = await resources[name]!();
  const read = bodyOf(await prod.get(own));
  // What belongs to another route, or stands for something else when it is sent.
  const { condition: _condition, ...sent } = read;
  const answer = await prod.request("PATCH", own, sent);
  expect([answer.status, answer.text.slice(0, answer.status === 200 ? 0 : 200)]).toEqual([200, ""]);
});

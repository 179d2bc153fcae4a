import { afterAll, beforeAll, expect, test } from "vitest";
import { completion, question } from "../support/chat.ts";
import { pathOf, retrieveCustomer } from "../support/customers.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers } from "../support/scripted-upstream.ts";
import { bodyOf, createSpan, retrieveSpan, settle } from "../support/spans.ts";
import type { Answer, Row } from "../support/test-client.ts";

/** M14: how a call of unknown price counts in a customer's budget. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const call = (customer: string, model = "openai/lab-1", members: Row = {}): Promise<Answer> => {
  gateway.upstream.script(answers(200, completion({ usage: { prompt_tokens: 10, completion_tokens: 10 } })));
  return gateway.app.prod.post("/api/chat/completions", {
    model,
    messages: [question],
    max_tokens: 10,
    customer_identifier: customer,
    ...members,
  });
};
const logOf = (answer: Answer) => retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id"));
const budget = (customer: string, fields: Row): Promise<Answer> =>
  gateway.app.prod.post("/api/users/", { customer_identifier: customer, total_budget: 1, ...fields });
const usageOf = async (customer: string) => (await retrieveCustomer(gateway.app.prod, customer))["total_usage"];

test("M14: by default it counts as 0, and limit_info warns of it", async () => {
  await budget("pretends-nothing", {});
  const answer = await call("pretends-nothing");
  expect(answer.status).toBe(200);
  const { cost, limit_info } = await logOf(answer);
  expect(cost).toBeNull();
  expect(limit_info).toMatchObject({ is_allowed: true, warnings: [expect.stringMatching(/counts as nothing/)] });
  expect((await logOf(await call("pretends-nothing", "gpt-4o")))["limit_info"]).not.toHaveProperty("warnings");
});

test("M14: it is refused if the budget says so, until it has a price", async () => {
  await budget("refuses", { unpriced_calls: "refuse" });
  const answer = await call("refuses");
  expect(answer).toMatchObject({ status: 429, json: { error: { type: "budget_exceeded" } } });
  expect(answer.text).toMatch(/model-prices/);
  expect(answer.headers.get("x-should-retry")).toBe("false");
  expect((await logOf(answer))["limit_info"]).toMatchObject({ is_allowed: false, reason: "unpriced_call" });
  expect((await call("refuses", "gpt-4o")).status).toBe(200);
  await gateway.app.prod.post("/api/model-prices/", { model: "lab-priced", rates: { input: 1, output: 1 } });
  expect((await call("refuses", "openai/lab-priced")).status).toBe(200);
});

test("M14: it counts as the amount set in the budget, and uses it up", async () => {
  await budget("counts", { unpriced_calls: 0.4 });
  for (const spent of [0.4, 0.8, 1.2]) {
    expect((await call("counts")).status).toBe(200);
    await expect.poll(() => usageOf("counts"), { timeout: 5_000 }).toBeCloseTo(spent, 6);
  }
  expect((await call("counts")).status).toBe(429);
  expect((await call("counts", "gpt-4o")).status).toBe(429);
});

test("M14: a call of a known price costs that, regardless of unpriced_calls", async () => {
  await budget("known", { unpriced_calls: 0.4 });
  expect((await call("known", "gpt-4o")).status).toBe(200);
  await expect.poll(() => usageOf("known"), { timeout: 5_000 }).toBeCloseTo(10 * 2.5e-6 + 10 * 1e-5, 9);
});

test("M14: earlier spans from elsewhere count in the same way", async () => {
  await budget("elsewhere", { unpriced_calls: 0.6 });
  const span = { customer_identifier: "elsewhere", model: "lab-1", log_type: "chat" };
  await createSpan(gateway.app.prod, { ...span, prompt_tokens: 5, completion_tokens: 5 });
  await createSpan(gateway.app.prod, { ...span, prompt_tokens: 5, completion_tokens: 5 });
  // It has no usage.
  await createSpan(gateway.app.prod, { ...span, status_code: 500 });
  await settle(gateway.app.prod);
  expect((await call("elsewhere", "gpt-4o")).status).toBe(429);
});

test.each([-1, "0.1", "allow", true, [], {}])("M14: unpriced_calls %j is refused", async (unpriced_calls) => {
  await budget("strict", {});
  const answer = await gateway.app.prod.request("PATCH", pathOf("strict"), { unpriced_calls });
  expect(answer.status).toBe(400);
  expect(Object.keys(bodyOf(answer))).toContain("unpriced_calls");
});

test("M14: it is set and cleared like the rest of a budget, and needs the same permission", async () => {
  await budget("changed", { unpriced_calls: "refuse" });
  const path = pathOf("changed");
  for (const unpriced_calls of [0, 0.25, "refuse", null]) {
    const changed = await gateway.app.prod.request("PATCH", path, { unpriced_calls });
    expect(changed.json).toMatchObject({ unpriced_calls });
    expect(await retrieveCustomer(gateway.app.prod, "changed")).toMatchObject({ unpriced_calls });
  }
  const admin = await gateway.app.login();
  const made = await admin.post("/api/api-keys/", {
    name: "calls",
    environment: "prod",
    permissions: ["gateway:call"],
  });
  const headers = { authorization: `Bearer ${String(bodyOf(made)["key"])}` };
  const body = {
    model: "gpt-4o",
    messages: [question],
    customer_params: { customer_identifier: "changed", unpriced_calls: null },
  };
  expect((await gateway.app.prod.post("/api/chat/completions", body, headers)).status).toBe(403);
});

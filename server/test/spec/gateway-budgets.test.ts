import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chunk, completion, question } from "../support/chat.ts";
import { pathOf, retrieveCustomer } from "../support/customers.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { answers, streamHead } from "../support/scripted-upstream.ts";
import { listSpans, retrieveSpan, settle, settleCalls } from "../support/spans.ts";
import { ingest, traceSpan } from "../support/traces.ts";
import { createClient, type Answer, type Row, type TestClient } from "../support/test-client.ts";

/** Budgets and rate limits of customers on the gateway: interface §4.5, decisions §5 and §6. */

let gateway: TestGateway;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  gateway = await startTestGateway({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

// gpt-4o costs 10 USD per million output tokens: 0.004 USD, and almost nothing for the input.
const outputTokens = 399;
const costly = () => answers(200, completion({ usage: { prompt_tokens: 1, completion_tokens: outputTokens } }));
const callCost = outputTokens * 1e-5 + 2.5e-6;

const call = (customer: string, members: Row = {}): Promise<Answer> =>
  gateway.app.prod.post("/api/chat/completions", {
    model: "gpt-4o",
    messages: [question],
    max_tokens: outputTokens,
    customer_identifier: customer,
    ...members,
  });
const errorOf = ({ json }: Answer) => (json as { error: Row }).error;
const logOf = (answer: Answer) => retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id"));
const patch = (customer: string, body: Row) => gateway.app.prod.request("PATCH", pathOf(customer), body);
/** Waits for the spans of this many calls, which are recorded a moment after their responses. */
const recorded = async (filters: Row, count: number): Promise<Row[]> => {
  const find = async () => (await listSpans(gateway.app.prod, filters)).results;
  await expect.poll(async () => (await find()).length, { timeout: 5_000 }).toBe(count);
  return find();
};
/** Usage of a call is settled a moment after its response. */
const usageOf = async (customer: string) =>
  (await retrieveCustomer(gateway.app.prod, customer))["total_usage"] as number;

describe("twenty concurrent first calls of a customer with a budget for two", () => {
  test("spend no more than it; the rest are blocked, logged and not retryable", async () => {
    const [answer, all] = [costly(), Promise.withResolvers<void>()];
    gateway.upstream.script(async (connection, request) => {
      await all.promise;
      return answer(connection, request);
    });
    const before = gateway.upstream.requests.length;
    const params = { customer_identifier: "race", total_budget: 0.01, name: "Racer" };
    let refusals = 0;
    const calls = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answered = await call("race", { customer_params: params });
        if (answered.status === 429 && (refusals += 1) === 18) all.resolve();
        return answered;
      }),
    );
    const [passed, blocked] = [200, 429].map((status) => calls.filter((answer) => answer.status === status));
    expect([passed?.length, blocked?.length]).toEqual([2, 18]);
    expect(gateway.upstream.requests.length - before).toBe(2);
    for (const answer of blocked ?? []) {
      expect(errorOf(answer)).toMatchObject({ type: "budget_exceeded", message: expect.stringContaining("0.01 USD") });
      expect(answer.headers.get("x-should-retry")).toBe("false");
    }
    const allowed = await logOf(passed![0]!);
    expect(allowed["limit_info"]).toMatchObject({ is_allowed: true, total_budget: 0.01, estimate: expect.any(Number) });
    const limitsOf = (span: Row) => (span["limit_info"] as { limits: Row[] }).limits;
    const budget = { name: "customer_total_budget", limit_value: 0.01 };
    expect(limitsOf(allowed)).toEqual([
      { ...budget, current_value: 0, new_value: expect.any(Number), is_within_limit: true },
    ]);
    expect(limitsOf(allowed)[0]?.["new_value"]).toBeLessThanOrEqual(0.01);
    const refused = await logOf(blocked![0]!);
    expect(refused).toMatchObject({ status_code: 429, customer_identifier: "race", total_tokens: null });
    expect(refused["limit_info"]).toMatchObject({ is_allowed: false, reason: "total_budget", total_budget: 0.01 });
    const [limit] = limitsOf(refused);
    expect(limit).toMatchObject({ ...budget, is_within_limit: false });
    expect(limit?.["new_value"]).toBe(limit?.["current_value"]);
    await settleCalls(gateway.app.prod);
    const logged = await listSpans(gateway.app.prod, { customer_identifier: { value: ["race"] } });
    expect(logged.count).toBe(20);
    await expect.poll(() => usageOf("race"), { timeout: 5_000 }).toBeCloseTo(2 * callCost, 9);
    expect(await retrieveCustomer(gateway.app.prod, "race")).toMatchObject({ name: "Racer", total_budget: 0.01 });
  });
});

test("M3, M8: spans use up the budget of the customer that they count for, whether or not they name it", async () => {
  const { prod } = gateway.app;
  await ingest(prod, [
    traceSpan("inheriting", "tool", "chat", 0, { log_type: "tool", cost: 0.0001 }),
    traceSpan("inheriting", "chat", "root", 0, { log_type: "chat", model: "gpt-4o", prompt_tokens: 100_000 }),
    traceSpan("inheriting", "root", null, 0, { customer_identifier: "inherits" }),
  ]);
  await patch("inherits", { total_budget: 0.2 });
  const answer = await call("inherits");
  expect([answer.status, errorOf(answer)]).toMatchObject([429, { type: "budget_exceeded" }]);
});

describe("the audit log", () => {
  test("has each change of a customer's limits by a call, and the span of that call", async () => {
    const name = "audited";
    gateway.upstream.script(answers(200, completion()));
    const admin = await gateway.app.login();
    const entriesOf = async () =>
      ((await admin.get(`/api/audit-log/?target=${name}`)).json as { results: Row[] }).results.toReversed();
    const state = (params: Row) => call(name, { customer_params: { customer_identifier: name, ...params } });
    await state({ name: "Ada" });
    expect(await entriesOf()).toEqual([]);
    const limits = [{ total_budget: 2, rate_limit: 60 }, { total_budget: 3 }, { total_budget: null }];
    for (const change of limits) for (const again of [change, change]) await state(again);
    const entries = await entriesOf();
    expect(entries).toMatchObject(
      limits.map((changes) => ({ action: "update_customer", actor_type: "key", environment: "prod", changes })),
    );
    const span = await retrieveSpan(gateway.app.prod, entries[0]?.["request_id"]);
    expect(span).toMatchObject({ customer_identifier: name, organization_key_id: expect.stringMatching(/./) });
  });
});

describe("calls that may cost nearly all of a budget", () => {
  const of = (completion_tokens: number) =>
    answers(200, completion({ usage: { prompt_tokens: 10, completion_tokens } }));
  test.each([
    ["name no bound", { max_tokens: undefined }],
    ["name a small bound beside a large one", { max_tokens: 1, max_completion_tokens: 16_000 }],
    ["want many choices", { max_tokens: 2_000, n: 8 }],
  ])("go one by one, as they %s", async (name, members) => {
    gateway.upstream.script(of(16_000));
    const params = { customer_params: { customer_identifier: name, total_budget: 0.2 }, ...members };
    const once = async () => {
      const calls = await Promise.all(Array.from({ length: 12 }, () => call(name, params)));
      return calls.filter(({ status }) => status === 200).length;
    };
    const passed = [await once(), await once(), await once()].reduce((sum, one) => sum + one, 0);
    // The second may use the rest and more; then nothing is left.
    expect(passed).toBe(2);
    await expect.poll(() => usageOf(name), { timeout: 5_000 }).toBeCloseTo(0.32005, 9);
  });

  test("limit their output with whole numbers", async () => {
    for (const [field, value] of Object.entries({ max_tokens: -1, max_completion_tokens: 0.5, n: 0 })) {
      const refused = await call("bounds", { [field]: value });
      expect(refused).toMatchObject({ status: 400, json: { error: { param: field } } });
    }
    const refused = await gateway.app.prod.post("/api/responses", {
      model: "gpt-4o",
      input: "a",
      max_output_tokens: 0,
    });
    expect(refused).toMatchObject({ status: 400, json: { error: { param: "max_output_tokens" } } });
  });
});

test.each([
  ["/api/chat/completions", {}, (usage: Row) => completion({ usage })],
  ["/api/embeddings", { model: "text-embedding-3-small", input: "words" }, (usage: Row) => ({ data: [], usage })],
  ["/api/responses", { input: "words" }, (usage: Row) => ({ output: [], usage })],
])("a usage that cannot be costs the same in budget and record: %s", async (path, members, reply) => {
  const customer_identifier = `usage${path}`;
  for (const count of [-4, 0.5]) {
    gateway.upstream.script(
      answers(200, reply({ prompt_tokens: count, completion_tokens: count, input_tokens: count })),
    );
    const customer_params = { customer_identifier, total_budget: 1 };
    const body = { model: "gpt-4o", messages: [question], customer_params, ...members };
    expect((await gateway.app.prod.post(path, body)).status).toBe(200);
  }
  const results = await recorded({ customer_identifier: { value: [customer_identifier] } }, 2);
  const costs = results.map(({ cost }) => cost as number);
  await expect.poll(() => usageOf(customer_identifier), { timeout: 5_000 }).toBeCloseTo(costs[0]! + costs[1]!, 9);
  expect(costs[0]).toBeGreaterThan(0);
});

describe("a reservation", () => {
  test("is released by a call that fails", async () => {
    gateway.upstream.script(answers(400, { error: { message: "no" } }));
    const params = { customer_params: { customer_identifier: "fails", total_budget: 0.006 } };
    for (let index = 0; index < 3; index += 1) expect((await call("fails", params)).status).toBe(400);
    gateway.upstream.script(costly());
    await expect.poll(async () => (await call("fails")).status, { timeout: 5_000 }).toBe(200);
  });

  test("is not released for a failure with usage", async () => {
    const usage = { prompt_tokens: 1, completion_tokens: outputTokens };
    gateway.upstream.script(answers(200, { error: { message: "The model failed." }, usage }));
    const params = { customer_params: { customer_identifier: "fails-dearly", total_budget: 0.006 }, retries: 0 };
    expect((await call("fails-dearly", params)).status).toBe(424);
    await expect.poll(() => usageOf("fails-dearly"), { timeout: 5_000 }).toBeCloseTo(callCost, 9);
    expect((await call("fails-dearly", params)).status).toBe(424);
    await expect.poll(async () => (await call("fails-dearly")).status, { timeout: 5_000 }).toBe(429);
  });

  test("is released when the caller disconnects, except for the usage", async () => {
    gateway.upstream.script(async (connection) => {
      await connection.write(streamHead + chunk({ role: "assistant", content: "Hello" }));
      await connection.closed(5_000);
      return "close";
    });
    await gateway.app.prod.post("/api/users/", { customer_identifier: "leaves", total_budget: 0.006 });
    const leaving = new AbortController();
    const answer = await fetch(new URL("/api/chat/completions", gateway.app.url), {
      method: "POST",
      headers: { authorization: "Bearer test_prod_key_0123456789", "content-type": "application/json" },
      body: JSON.stringify({
        model: "gpt-4o",
        messages: [question],
        max_tokens: outputTokens,
        stream: true,
        customer_identifier: "leaves",
      }),
      signal: leaving.signal,
    });
    await answer.body?.getReader().read();
    expect((await call("leaves")).status).toBe(429);
    leaving.abort();
    gateway.upstream.script(costly());
    await expect.poll(async () => (await call("leaves")).status, { timeout: 5_000 }).toBe(200);
  });
});

test("a call of the built-in model uses no budget, whatever price its model has", async () => {
  const { prod } = gateway.app;
  const price = { model: "echo", rates: { input: 1e6, output: 1e6 } };
  expect((await prod.post("/api/model-prices/", price)).status).toBe(201);
  const params = { customer_identifier: "echoed", total_budget: 1_000_000 };
  const answer = await call("echoed", { model: "spanway/echo", customer_params: params });
  expect(answer.status).toBe(200);
  await settleCalls(prod);
  expect((await logOf(answer))["cost"]).toBe(0);
  expect(await usageOf("echoed")).toBe(0);
});

test("a call without a budget reports that in the same form", async () => {
  gateway.upstream.script(costly());
  const retained = {
    cache_enabled: true,
    customer_identifier: undefined,
    messages: [{ role: "user", content: "No bound" }],
  };
  for (const answer of [await call("", retained), await call("", retained), await call("", { messages: [] })])
    expect((await logOf(answer))["limit_info"]).toMatchObject({ is_allowed: true, limits: [] });
});

describe("a budget", () => {
  test("is the customer's own, set by PATCH and lifted by null", async () => {
    gateway.upstream.script(costly());
    expect((await call("own")).status).toBe(200);
    await expect.poll(() => usageOf("own"), { timeout: 5_000 }).toBeCloseTo(callCost, 9);
    await patch("own", { period_budget: 0.001, budget_duration: "daily" });
    const blocked = await call("own");
    expect([blocked.status, errorOf(blocked)["type"]]).toEqual([429, "budget_exceeded"]);
    expect((await call("another")).status).toBe(200);
    await patch("own", { period_budget: null });
    expect((await call("own")).status).toBe(200);
  });

  test("counts spans logged over the API", async () => {
    const span = { customer_identifier: "logs", cost: 5, log_type: "chat", timestamp: new Date().toISOString() };
    await gateway.app.prod.post("/api/request-logs/", span);
    await settle(gateway.app.prod);
    await patch("logs", { total_budget: 5 });
    expect((await call("logs")).status).toBe(429);
  });

  test("that is reached sends one webhook event", async () => {
    gateway.upstream.script(costly());
    const url = `${receiver.url}/budget`;
    const event_type = "customer_budget_limit_reached";
    const made = await gateway.app.prod.post("/api/webhooks/", { name: "budgets", url, event_type });
    expect(made.status).toBe(201);
    const params = { customer_identifier: "told", period_budget: 0.005, budget_duration: "monthly", name: "Told" };
    // A mere reservation does not use up a budget.
    gateway.upstream.script(answers(400, { error: { message: "no" } }));
    await Promise.all(Array.from({ length: 6 }, () => call("told", { customer_params: params })));
    gateway.upstream.script(costly());
    for (let index = 0; index < 4; index += 1) await call("told", { customer_params: params });
    await expect.poll(() => receiver.on("/budget").length, { timeout: 5_000 }).toBe(1);
    await sleep(200);
    expect(receiver.on("/budget").map(({ json }) => json)).toMatchObject([
      { customer_identifier: "told", name: "Told", budget: "period_budget", period_budget: 0.005, environment: "prod" },
    ]);
    const notifications = receiver.on("/budget").map(({ json }) => (json as Row)["period_usage"]);
    expect(notifications[0]).toBeCloseTo(2 * callCost, 9);
  });

  test("that is invalid is a 400", async () => {
    const answer = await call("bad", { customer_params: { customer_identifier: "bad", period_budget: "much" } });
    expect([answer.status, errorOf(answer)["message"]]).toEqual([400, expect.stringContaining("period_budget")]);
  });
});

test("rate_limit counts requests per minute", async () => {
  gateway.upstream.script(costly());
  await gateway.app.prod.post("/api/users/", { customer_identifier: "often", rate_limit: 2 });
  const calls = [await call("often"), await call("often"), await call("often")];
  expect(calls.map(({ status }) => status)).toEqual([200, 200, 429]);
  const last = calls[2]!;
  expect(errorOf(last)).toMatchObject({ type: "rate_limited" });
  expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await logOf(last))["limit_info"]).toMatchObject({ is_allowed: false, reason: "rate_limit", rate_limit: 2 });
});

test.each([
  ["total-spent", { total_budget: 0 }],
  ["period-spent", { period_budget: 0, budget_duration: "daily" }],
])("a call that a budget refuses does not count for rate_limit: %s", async (name, budget) => {
  gateway.upstream.script(costly());
  await gateway.app.prod.post("/api/users/", { customer_identifier: name, rate_limit: 1, ...budget });
  for (let index = 0; index < 3; index += 1) expect(errorOf(await call(name))["type"]).toBe("budget_exceeded");
  const raised = { customer_params: { customer_identifier: name, total_budget: 9, period_budget: null } };
  expect((await call(name, raised)).status).toBe(200);
  expect(errorOf(await call(name, raised))).toMatchObject({
    type: "rate_limited",
    message: expect.stringContaining(" 1 request a minute"),
  });
});

test("calls that repeat the ids of a span are separate spans, whose costs add up, also if one is blocked", async () => {
  gateway.upstream.script(costly());
  const ids = { trace_unique_id: "trace-again", span_unique_id: "span-again" };
  const params = { ...ids, customer_params: { customer_identifier: "again", total_budget: 0.01 } };
  const calls = [];
  for (let index = 0; index < 5; index += 1) calls.push(await call("again", params));
  expect(calls.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
  const results = await recorded({ trace_unique_id: { value: ["trace-again"] } }, 5);
  expect(results.reduce((sum, { cost }) => sum + Number(cost), 0)).toBeCloseTo(3 * callCost, 9);
  const [first, second] = [await logOf(calls[0]!), await logOf(calls[1]!)];
  expect(first).toMatchObject({ span_unique_id: "span-again", cost: expect.closeTo(callCost, 9) });
  expect(second).toMatchObject({
    trace_unique_id: "trace-again",
    span_parent_id: "span-again",
    warnings: [expect.stringContaining("span-again")],
  });
  expect(second["span_unique_id"]).not.toBe("span-again");
});

describe("a key that may not change customers", () => {
  let key: TestClient;
  beforeAll(async () => {
    const admin = await gateway.app.login();
    const made = await admin.post("/api/api-keys/", { name: "w", environment: "prod", permissions: ["spans:write"] });
    key = createClient(gateway.app.url, String((made.json as Row)["key"]));
  });
  const send = (customer: string, members: Row = {}, headers: Record<string, string> = {}) => {
    const body = { model: "gpt-4o", messages: [question], max_tokens: outputTokens, customer_identifier: customer };
    return key.post("/api/chat/completions", { ...body, ...members }, headers);
  };

  test("K2: never lets a blocked customer unblock itself", async () => {
    gateway.upstream.script(costly());
    await call("stuck", { customer_params: { customer_identifier: "stuck", total_budget: 0.001 } });
    expect((await send("stuck")).status).toBe(429);
    const before = gateway.upstream.requests.length;
    const raised = { customer_params: { customer_identifier: "stuck", total_budget: 100, rate_limit: null } };
    const header = { "x-data-svc-params": Buffer.from(JSON.stringify(raised)).toString("base64") };
    for (const answer of [await send("stuck", raised), await send("stuck", {}, header)]) {
      expect(answer.status).toBe(403);
      expect(errorOf(answer)).toMatchObject({ type: "permission_error", code: "forbidden" });
      expect(errorOf(answer)["message"]).toMatch(/customer_params\.total_budget, customer_params\.rate_limit/);
    }
    // A span does not bypass this either.
    await key.post("/api/request-logs/", { ...raised, cost: -1, model: "gpt-4o" });
    await key.post("/api/request-logs/", { ...raised, model: "gpt-4o" });
    await settle(gateway.app.prod);
    expect((await retrieveCustomer(gateway.app.prod, "stuck"))["total_budget"]).toBe(0.001);
    expect((await send("stuck")).status).toBe(429);
    expect(gateway.upstream.requests.length).toBe(before);
  });

  test("K2: can still name customers, with name and email", async () => {
    gateway.upstream.script(costly());
    const params = { customer_params: { customer_identifier: "free", name: "Free", email: "free@example.com" } };
    expect((await send("free", params)).status).toBe(200);
    expect(await retrieveCustomer(gateway.app.prod, "free")).toMatchObject({ name: "Free", period_budget: null });
  });
});

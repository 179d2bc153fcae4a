import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completion, question } from "../support/chat.ts";
import { retrieveCustomer } from "../support/customers.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers } from "../support/scripted-upstream.ts";
import { always, bodyOf, createSpan, retrieveSpan, settle, storeSpans } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** M15: costs of stored spans with today's prices. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const reprice = (client: TestClient, body: Row = {}, query = ""): Promise<Answer> =>
  client.post(`/api/request-logs/reprice/?${always}${query}`, body);
const run = async (client: TestClient, filters: Row = {}): Promise<Row> => {
  const answer = await reprice(client, { filters, dry_run: false });
  expect(answer.status).toBe(200);
  return bodyOf(answer);
};
const state = (client: TestClient, model: string, input: number, more: Row = {}): Promise<Answer> =>
  client.post("/api/model-prices/", { model, rates: { input, output: 0 }, ...more });
const restate = async (client: TestClient, input: number): Promise<void> => {
  const [price] = (bodyOf(await client.get("/api/model-prices/")) as { results: Row[] }).results;
  await client.request("PATCH", `/api/model-prices/${String(price?.["id"])}/`, { rates: { input, output: 0 } });
};
const used = { prompt_tokens: 1_000_000, completion_tokens: 0, log_type: "chat", model: "lab-1" };
const newTenant = async (): Promise<TestClient> => (await gateway.app.newOrganization()).prod;
const totalOf = async (client: TestClient): Promise<unknown> =>
  bodyOf(await client.get(`/api/request-logs/summary/?${always}`))["total_cost"];

describe("M15: a dry run", () => {
  test("is the default: it reports the changes, and changes nothing", async () => {
    const prod = await newTenant();
    const { unique_id } = await createSpan(prod, used);
    await storeSpans(prod, [
      { ...used, model: "unknown" },
      { ...used, cost: 3 },
    ]);
    await state(prod, "lab-1", 2);
    const answer = await reprice(prod);
    expect(answer).toMatchObject({
      status: 200,
      json: {
        dry_run: true,
        count: 1,
        without_price: 1,
        old_cost: 0,
        new_cost: 2,
        continue_before: null,
        sample: [{ unique_id, model: "lab-1", old_cost: null, new_cost: 2, old_price_version: "" }],
      },
    });
    expect(await retrieveSpan(prod, unique_id)).toMatchObject({ cost: null });
  });
});

describe("M15: a run", () => {
  test("gives computed costs today's price, keeps the old one in the receipt, and changes nothing else of the span", async () => {
    const prod = await newTenant();
    await state(prod, "lab-1", 1);
    const { unique_id } = await createSpan(prod, { ...used, input: "hello", metadata: { a: 1 }, status_code: 201 });
    await settle(prod);
    const before = await retrieveSpan(prod, unique_id);
    await restate(prod, 2);
    expect(await run(prod)).toMatchObject({ dry_run: false, count: 1, old_cost: 1, new_cost: 2 });
    const after = await retrieveSpan(prod, unique_id);
    const { cost_details, ...rest } = before;
    expect(after).toEqual({
      ...rest,
      cost: 2,
      counted_cost: 2,
      price_version: expect.any(String),
      cost_details: expect.anything(),
    });
    const source = (cost_details as { source: Row }).source;
    expect(after["cost_details"]).toMatchObject({
      source: { kind: "own_price", name: source["name"] },
      lines: [{ bucket: "input", rate: 2, amount: 2 }],
      previous: [{ cost: 1, price_version: before["price_version"], repriced_at: expect.any(String) }],
    });
    await restate(prod, 3);
    await run(prod);
    expect((await retrieveSpan(prod, unique_id))["cost_details"]).toMatchObject({
      previous: [{ cost: 2 }, { cost: 1 }],
    });
  });

  test("does not change stated costs, however they were stated", async () => {
    const prod = await newTenant();
    const stated = [
      { ...used, cost: 0.5 },
      { ...used, prompt_unit_price: 4, completion_unit_price: 4 },
      { ...used, usage: { prompt_tokens: 1_000_000, completion_tokens: 0, cost: 0, is_byok: false } },
      { ...used, cache_hit: true },
    ];
    await storeSpans(prod, stated);
    const before = await prod.list();
    await state(prod, "lab-1", 2);
    expect(await run(prod)).toMatchObject({ count: 0 });
    expect(await prod.list()).toEqual(before);
  });

  test("changes nothing if prices did not change, for any buckets and regions", async () => {
    const prod = await newTenant();
    const tokens = { prompt_tokens: 9_000, completion_tokens: 400 };
    await storeSpans(prod, [
      { model: "gpt-4o", ...tokens, prompt_cache_hit_tokens: 4_000 },
      { model: "gpt-4o", usage: { ...tokens, service_tier: "priority" } },
      {
        model: "gpt-5.6-sol",
        usage: { ...tokens, prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 500 } },
      },
      {
        model: "gpt-4o-audio-preview",
        usage: {
          ...tokens,
          prompt_tokens_details: { audio_tokens: 500 },
          completion_tokens_details: { audio_tokens: 300 },
        },
      },
      {
        model: "claude-sonnet-4-5",
        usage: {
          input_tokens: 100,
          output_tokens: 9,
          cache_read_input_tokens: 7_000,
          cache_creation_input_tokens: 300,
        },
      },
      {
        model: "claude-sonnet-4-5",
        usage: {
          input_tokens: 100,
          output_tokens: 9,
          cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 400 },
          cache_creation_input_tokens: 420,
        },
      },
      { model: "claude-opus-4-6", usage: { input_tokens: 20_000, output_tokens: 1_000, inference_geo: "us" } },
      {
        model: "gemini-2.5-pro",
        usage: { promptTokenCount: 300_000, candidatesTokenCount: 50, thoughtsTokenCount: 70 },
      },
      {
        model: "claude-sonnet-4-5",
        usage: { input_tokens: 5, output_tokens: 5, server_tool_use: { web_search_requests: 3 } },
      },
      { model: "whisper-1", log_type: "transcription", usage: { type: "duration", seconds: 90 } },
      { model: "text-embedding-3-small", log_type: "embedding", usage: { prompt_tokens: 8, total_tokens: 8 } },
      { model: "qwen3", provider_id: "ollama", ...tokens },
      { model: "azure/gpt-4o", ...tokens },
    ]);
    expect(await reprice(prod)).toMatchObject({ json: { count: 0, without_price: 0 } });
  });

  test("keeps the cost of spans that no longer have a price", async () => {
    const prod = await newTenant();
    const price = bodyOf(await state(prod, "lab-1", 1));
    const { unique_id } = await createSpan(prod, used);
    await settle(prod);
    await prod.request("DELETE", `/api/model-prices/${String(price["id"])}/`);
    expect(await run(prod)).toMatchObject({ count: 0, without_price: 1 });
    expect(await retrieveSpan(prod, unique_id)).toMatchObject({ cost: 1 });
  });

  test("prices a span by its own time", async () => {
    const prod = await newTenant();
    const times = ["2026-01-15T00:00:00Z", "2026-02-15T00:00:00Z"];
    const made = [];
    for (const timestamp of times) made.push(await createSpan(prod, { ...used, timestamp }));
    await settle(prod);
    await state(prod, "lab-1", 1, { valid_to: "2026-02-01" });
    await state(prod, "lab-1", 2, { valid_from: "2026-02-01" });
    await run(prod);
    const costs = await Promise.all(made.map(async ({ unique_id }) => (await retrieveSpan(prod, unique_id))["cost"]));
    expect(costs).toEqual([1, 2]);
  });

  test("applies to the window and the filters of body and URL, only in the key's environment", async () => {
    const { prod, test: testKey } = await gateway.app.newOrganization();
    await storeSpans(prod, [
      { ...used, customer_identifier: "a" },
      { ...used, customer_identifier: "b" },
      { ...used, customer_identifier: "a", timestamp: "2020-01-01T00:00:00Z" },
    ]);
    await storeSpans(testKey, [{ ...used, customer_identifier: "a" }]);
    await state(prod, "lab-1", 1);
    const recent = await prod.post("/api/request-logs/reprice/", {
      filters: { customer_identifier: { value: ["a"] } },
    });
    expect(recent.json).toMatchObject({ count: 1 });
    expect((await reprice(prod, {}, "&customer_identifier=b")).json).toMatchObject({ count: 1 });
    expect((await reprice(prod)).json).toMatchObject({ count: 3 });
    expect((await reprice(testKey)).json).toMatchObject({ count: 1 });
    expect((await reprice(prod, {}, "&environment=test")).status).toBe(403);
    expect((await reprice(prod, { filters: { no_such_field: 1 } })).status).toBe(400);
    expect((await reprice(prod, { dry_run: "no" })).status).toBe(400);
    await run(prod, { customer_identifier: { value: ["b"] } });
    expect(await totalOf(prod)).toBe(1);
  });

  test("is idempotent, and refuses another one at the same time", async () => {
    const prod = await newTenant();
    await storeSpans(
      prod,
      Array.from({ length: 5 }, () => used),
    );
    await state(prod, "lab-1", 1);
    const answers = await Promise.all([1, 2, 3].map(() => reprice(prod, { dry_run: false })));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeLessThan(answers.length);
    for (const { status, headers } of refused) expect([status, headers.get("retry-after")]).toEqual([409, "5"]);
    expect(await totalOf(prod)).toBe(5);
    expect((await prod.list()).count).toBe(5);
    expect(await run(prod)).toMatchObject({ count: 0 });
  });

  test("is audited, and needs prices:write", async () => {
    const admin = await gateway.app.login();
    await run(gateway.app.prod, { model: { value: ["nothing-of-this"] } });
    const log = (await admin.get("/api/audit-log/")).json as { results: Row[] };
    expect(log.results.map(({ action }) => action)).toContain("reprice_spans");
  });
});

describe("M15: effects", () => {
  test("updates sums, groups and the count of a trace", async () => {
    const prod = await newTenant();
    const trace_unique_id = randomUUID();
    const at = (span_unique_id: string, more: Row) => ({ trace_unique_id, span_unique_id, ...more });
    await storeSpans(prod, [
      at("root", { log_type: "agent", customer_identifier: "c", cost: 5 }),
      at("call", { ...used, span_parent_id: "root" }),
    ]);
    expect(await totalOf(prod)).toBe(5);
    await state(prod, "lab-1", 2);
    await run(prod);
    // The root's stated cost covered the call, which has its own price by now.
    const rows = (await prod.list({ trace_unique_id: { value: [trace_unique_id] } })).results;
    const counted = rows.reduce((sum, row) => sum + Number(row["counted_cost"] ?? 0), 0);
    expect([counted, await totalOf(prod)]).toEqual([2, 2]);
    expect(rows.find((row) => row["span_unique_id"] === "call")).toMatchObject({ cost: 2, counted_cost: 2 });
    const trace = bodyOf(await prod.get(`/api/traces/${trace_unique_id}/`));
    expect(trace).toMatchObject({ total_cost: 2 });
  });

  test("a deleted trace does not come back", async () => {
    const prod = await newTenant();
    const trace_unique_id = randomUUID();
    await storeSpans(prod, [{ ...used, trace_unique_id, span_unique_id: "a" }, used]);
    await state(prod, "lab-1", 1);
    const [done] = await Promise.all([run(prod), prod.request("DELETE", `/api/traces/${trace_unique_id}/?${always}`)]);
    expect(done["dry_run"]).toBe(false);
    await settle(prod);
    expect((await prod.list({ trace_unique_id: { value: [trace_unique_id] } })).count).toBe(0);
    await run(prod);
    expect((await prod.get(`/api/traces/${trace_unique_id}/`)).status).toBe(404);
  });

  test("a span that is resent meanwhile is the newer one, once", async () => {
    const prod = await newTenant();
    const span = { ...used, trace_unique_id: randomUUID(), span_unique_id: "a", timestamp: "2026-03-01T00:00:00Z" };
    await storeSpans(prod, [span]);
    await state(prod, "lab-1", 1);
    await Promise.all([run(prod), createSpan(prod, { ...span, prompt_tokens: 2_000_000, output: "longer" })]);
    await settle(prod);
    const { count, results } = await prod.list({ model: { value: ["lab-1"] } });
    expect([count, results[0]?.["cost"], results[0]?.["prompt_tokens"]]).toEqual([1, 2, 2_000_000]);
  });

  test("customers and their budgets, down and up", async () => {
    const { prod } = gateway.app;
    const customer_identifier = "repriced";
    await prod.post("/api/users/", { customer_identifier, period_budget: 10, budget_duration: "yearly" });
    await state(prod, "lab-budget", 3);
    await storeSpans(prod, [{ ...used, model: "lab-budget", customer_identifier }]);
    const call = () => {
      gateway.upstream.script(answers(200, completion({ usage: { prompt_tokens: 4, completion_tokens: 0 } })));
      const body = { model: "gpt-4o", messages: [question], max_tokens: 1, customer_identifier };
      return prod.post("/api/chat/completions", body);
    };
    expect((await call()).status).toBe(200);
    const usage = async () => (await retrieveCustomer(prod, customer_identifier))["total_period_usage"];
    await expect.poll(usage, { timeout: 5_000 }).toBeCloseTo(3 + 4 * 2.5e-6, 9);

    const { results } = bodyOf(await prod.get("/api/model-prices/")) as { results: Row[] };
    const path = `/api/model-prices/${String(results.find(({ model }) => model === "lab-budget")?.["id"])}/`;
    await prod.request("PATCH", path, { rates: { input: 1, output: 0 } });
    await run(prod, { model: { value: ["lab-budget"] } });
    expect(await usage()).toBeCloseTo(1 + 4 * 2.5e-6, 9);

    await prod.request("PATCH", path, { rates: { input: 12, output: 0 } });
    await run(prod, { model: { value: ["lab-budget"] } });
    expect(await usage()).toBeCloseTo(12 + 4 * 2.5e-6, 9);
    expect((await call()).status).toBe(429);
  });
});

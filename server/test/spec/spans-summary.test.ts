import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";
import { always, bodyOf, fieldsOf, storeSpans, summarize } from "../support/spans.ts";

let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
const path = "/api/request-logs/summary/";
const hour = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey } = await app.newOrganization());
  await storeSpans(prod, [
    { log_type: "chat", model: "m1", prompt_tokens: 10, completion_tokens: 20, cost: 0.1, latency: 2, ttft: 0.5 },
    { log_type: "chat", model: "m1", prompt_tokens: 30, completion_tokens: 40, cost: 0.2, latency: 4, ttft: 1.5 },
    { log_type: "chat", model: "no-price", prompt_tokens: 5, completion_tokens: 5, status_code: 500 },
    { log_type: "tool", cache_hit: true, latency: 6 },
    { log_type: "tool", timestamp: ago(2 * hour), cost: 100, metadata: { old: true } },
  ]);
  await storeSpans(testKey, [{ log_type: "chat", cost: 10, prompt_tokens: 1 }]);
});
afterAll(() => app.stop());

describe("figures", () => {
  test("sum and average known values, and skip unknown ones", async () => {
    const answer = await prod.post(`${path}?environment=prod`, { filters: {} });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      number_of_requests: 4,
      total_cost: 0.3,
      total_tokens: 110,
      total_prompt_tokens: 45,
      total_completion_tokens: 65,
      avg_latency: 4,
      avg_ttft: 1,
      avg_tps: 10,
      scores: {},
      error_count: 1,
      unpriced_count: 1,
      cache_hit_count: 1,
      number_of_customers: 0,
      p50_latency: 4,
      p90_latency: 5.6,
      p95_latency: 5.8,
      p99_latency: 5.96,
      p50_time_to_first_token: 1,
      p90_time_to_first_token: 1.4,
      p95_time_to_first_token: 1.45,
      p99_time_to_first_token: 1.49,
      p50_tokens_per_second: 10,
      p90_tokens_per_second: 10,
      p95_tokens_per_second: 10,
      p99_tokens_per_second: 10,
      window: { start_time: expect.any(String), end_time: expect.any(String) },
      environment: "prod",
    });
  });

  test("without spans are zeros", async () => {
    const { prod: nobody } = await app.newOrganization();
    const answer = await nobody.post(path, {});
    expect(answer.json).toMatchObject({
      number_of_requests: 0,
      total_cost: 0,
      total_tokens: 0,
      total_prompt_tokens: 0,
      total_completion_tokens: 0,
      avg_latency: 0,
      avg_tps: 0,
      avg_ttft: 0,
      scores: {},
      number_of_customers: 0,
      p50_latency: null,
      p99_tokens_per_second: null,
    });
  });

  test("customers are those that spans count for, each once per environment", async () => {
    const { prod: own, test: ownTest } = await app.newOrganization();
    const trace_unique_id = "of ann";
    await storeSpans(own, [
      { trace_unique_id, span_unique_id: "root", customer_identifier: "ann", model: "m1" },
      { trace_unique_id, span_unique_id: "child", span_parent_id: "root", model: "m2" },
      { customer_identifier: "bob", model: "m1" },
      { customer_identifier: "bob", model: "m1" },
      { model: "m1" },
    ]);
    await storeSpans(ownTest, [{ customer_identifier: "bob" }]);
    const customers = async (query: string) =>
      bodyOf(await own.post(`${path}?${always}&${query}`, {}))["number_of_customers"];
    expect(await customers("environment=prod")).toBe(2);
    expect(await customers("environment=all")).toBe(3);
    expect(await customers("model=m2")).toBe(1);
  });

  test("a thousand times a tenth of a cent is a dollar", async () => {
    const custom_identifier = "cents";
    for (let time = 0; time < 2; time += 1) {
      await storeSpans(
        prod,
        Array.from({ length: 500 }, () => ({ custom_identifier, cost: 0.001 })),
      );
    }
    expect((await summarize(prod, { custom_identifier: [custom_identifier] }))["total_cost"]).toBe(1);
  });
});

describe("what is summed", () => {
  const counts = async (query: string, body: unknown = {}): Promise<unknown> =>
    bodyOf(await prod.post(`${path}?${query}`, body))["number_of_requests"];
  const chats = { filters: { log_type: { operator: "", value: ["chat"] } } };

  test.each<[name: string, query: string, body: unknown, count: number]>([
    ["both environments, unless the request names one", "", chats, 4],
    ["all", "environment=all", chats, 4],
    ["prod", "environment=prod", chats, 3],
    ["test", "environment=test", chats, 1],
    ["filters", "", { filters: { model: { operator: "", value: ["m1"] } } }, 2],
    ["several filters together", "", { filters: { model: ["m1"], cost: { operator: "gt", value: [0.15] } } }, 1],
    ["what is older than an hour is left out", "", { filters: { cost: { operator: "gt", value: [50] } } }, 0],
    ["a wider window", always, { filters: { cost: { operator: "gt", value: [50] } } }, 1],
    ["filters by metadata", always, { filters: { metadata__old: [true] } }, 1],
    ["filters of the URL beside those of the body", "model=m1", chats, 2],
  ])("%s", async (_name, query, body, count) => {
    expect(await counts(query, body)).toBe(count);
  });

  test("empty and absent filters are equal", async () => {
    const { prod: alone } = await app.newOrganization();
    await storeSpans(alone, [{ cost: 1, latency: 2 }, { cost: 2 }]);
    const until = `${path}?end_time=${new Date().toISOString()}`;
    const whole: Row = bodyOf(await alone.post(until, { filters: {} }));
    expect(whole).toMatchObject({ number_of_requests: 2, total_cost: 3 });
    for (const body of [undefined, {}, { filters: null }, { filters: [] }]) {
      expect((await alone.post(until, body)).json).toEqual(whole);
    }
    const filtered = { filters: { cost: { operator: "gt", value: [0] } } };
    expect((await alone.post(until, filtered)).json).toEqual(whole);
    expect((await alone.get(until)).json).toEqual(whole);
  });
});

describe("400", () => {
  test.each<[field: string, query: string, filters: unknown]>([
    ["start_time", "start_time=yesterday", {}],
    ["end_time", "end_time=13-13-13", {}],
    ["start_time", "start_time=2026-01-02&end_time=2026-01-01", {}],
    ["environment", "environment=staging", {}],
    ["no_such_field", "", { no_such_field: ["x"] }],
    ["cost", "", { cost: { operator: "resembles", value: [1] } }],
    ["filters", "", "text"],
  ])("names %s", async (field, query, filters) => {
    const answer = await prod.post(`${path}?${query}`, { filters });
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([field]);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "../support/test-client.ts";
import { always, bodyOf, fieldsOf, storeSpans, sortedValues } from "../support/spans.ts";

let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
const path = "/api/request-logs/groups/";

const identity = (name: string) => ({
  model: `model-${name}`,
  provider_id: `provider-${name}`,
  prompt_id: `prompt-${name}`,
  deployment_id: `deployment-id-${name}`,
  deployment_name: `deployment-${name}`,
  custom_identifier: `custom-${name}`,
  customer_identifier: `customer-${name}`,
  trace_unique_id: `trace-${name}`,
  thread_identifier: `thread-${name}`,
});

beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey } = await app.newOrganization());
  await storeSpans(prod, [
    { ...identity("a"), cost: 1, prompt_tokens: 10, completion_tokens: 10, latency: 1, ttft: 0.1, cache_hit: true },
    { ...identity("a"), cost: 3, prompt_tokens: 20, completion_tokens: 20, latency: 3, ttft: 0.3, status: "error" },
    { ...identity("a"), log_type: "tool" },
    { ...identity("b"), cost: 10, prompt_tokens: 1, completion_tokens: 1, latency: 2 },
    { ...identity("b"), cost: 10, prompt_tokens: 1, completion_tokens: 1, latency: 2 },
    { ...identity("c"), cost: 5, prompt_tokens: 500, completion_tokens: 0, latency: 9, status_code: 404 },
  ]);
  await storeSpans(testKey, [{ ...identity("a"), cost: 100 }]);
});
afterAll(() => app.stop());

async function groups(query: string, body: unknown = {}, client = prod): Promise<ListAnswer> {
  const answer = await client.post(`${path}?${always}&environment=prod&${query}`, body);
  if (answer.status !== 200) throw new Error(`groups answered ${answer.status}: ${answer.text}`);
  return answer.json as ListAnswer;
}
// The marker spans of 1970 are outside the window, so the groups contain only the spans above.
const keysOf = (answer: ListAnswer, key: string) => answer.results.map((row) => row[key]);

describe("group_by", () => {
  test.each<[groupBy: string, key: string, prefix: string]>([
    ["model", "model", "model-"],
    ["provider_id", "provider_id", "provider-"],
    ["prompt_id", "prompt_id", "prompt-"],
    ["deployment_id", "deployment_id", "deployment-id-"],
    ["deployment_name", "deployment_name", "deployment-"],
    ["custom_identifier", "custom_identifier", "custom-"],
    ["customer_identifier", "customer_identifier", "customer-"],
    ["trace", "trace_unique_id", "trace-"],
    ["thread", "thread_identifier", "thread-"],
  ])("%s gives a row for each %s, on GET and POST", async (groupBy, key, prefix) => {
    const posted = await groups(`group_by=${groupBy}&sort_by=-number_of_requests`);
    expect(keysOf(posted, key)).toEqual([`${prefix}a`, `${prefix}b`, `${prefix}c`]);
    const got = await prod.get(`${path}?${always}&environment=prod&group_by=${groupBy}&sort_by=-number_of_requests`);
    expect(got.json).toEqual(posted);
  });

  test("two fields, one of them of metadata, give a row for each pair; search narrows them by their values", async () => {
    const { prod: own } = await app.newOrganization();
    await storeSpans(own, [
      { model: "m1", cost: 1, metadata: { plan: "Pro's" } },
      { model: "m1", cost: 2, metadata: { plan: "free" } },
      { model: "m2", cost: 4 },
    ]);
    const query = "group_by=metadata__plan,model&sort_by=-total_cost";
    const rowsOf = (answer: ListAnswer) =>
      answer.results.map((row) => [row["metadata__plan"], row["model"], row["total_cost"]]);
    expect(rowsOf(await groups(query, {}, own))).toEqual([
      ["", "m2", 4],
      ["free", "m1", 2],
      ["Pro's", "m1", 1],
    ]);
    const found = await groups(`${query}&search=pro's`, {}, own);
    expect([found.count, rowsOf(found)]).toEqual([1, [["Pro's", "m1", 1]]]);
    expect(rowsOf(await groups(`${query}&search=M1`, {}, own))).toHaveLength(2);
    expect(rowsOf(await groups(`${query}&search=%25`, {}, own))).toEqual([]);
  });

  test("organization_key_id gives a row for each key", async () => {
    const answer = await prod.post(`${path}?${always}&group_by=organization_key_id`);
    const { results } = answer.json as ListAnswer;
    expect(sortedValues(results, "number_of_requests")).toEqual(["1", "6"]);
    for (const row of results) expect(row["organization_key_id"]).toEqual(expect.stringMatching(/./));
  });

  test.each(["", "no_such_column", "metadata", "version", "organization_id", "model;--", "toString"])(
    "%j is 400 naming it",
    async (groupBy) => {
      for (const method of ["GET", "POST"]) {
        const answer = await prod.request(method, `${path}?group_by=${encodeURIComponent(groupBy)}`);
        expect(answer.status).toBe(400);
        expect(fieldsOf(answer)).toEqual(["group_by"]);
      }
    },
  );

  test("is required", async () => {
    expect(await prod.post(path, {})).toMatchObject({
      status: 400,
      json: { errors: { group_by: [expect.any(String)] } },
    });
  });
});

describe("a row", () => {
  test("has the figures of its group", async () => {
    const { results } = await groups("group_by=model&sort_by=-number_of_requests");
    expect(results[0]).toEqual({
      model: "model-a",
      date_group: null,
      scores: {},
      number_of_requests: 3,
      span_count: 3,
      total_cost: 4,
      total_tokens: 60,
      total_prompt_tokens: 30,
      total_completion_tokens: 30,
      error_count: 1,
      error_percentage: expect.closeTo(100 / 3, 4),
      average_cost: 2,
      average_tokens: 30,
      average_latency: 2,
      average_ttft: expect.closeTo(0.2, 9),
      average_tps: expect.closeTo((10 + 20 / 3) / 2, 9),
      cache_hit_percentage: expect.closeTo(100 / 3, 4),
      unpriced_count: 0,
      p50_latency: 2,
      p90_latency: 2.8,
      p95_latency: 2.9,
      p99_latency: 2.98,
      p50_time_to_first_token: 0.2,
      p90_time_to_first_token: 0.28,
      p95_time_to_first_token: 0.29,
      p99_time_to_first_token: 0.298,
      p50_tokens_per_second: expect.closeTo(8.333333, 5),
      p90_tokens_per_second: expect.closeTo(9.666667, 5),
      p95_tokens_per_second: expect.closeTo(9.833333, 5),
      p99_tokens_per_second: expect.closeTo(9.966667, 5),
      first_timestamp: expect.stringMatching(/Z$/),
      last_timestamp: expect.stringMatching(/Z$/),
    });
  });

  test("has percentiles of its own spans, on every page and for every grouping", async () => {
    const { prod: own } = await app.newOrganization();
    const names = ["", 'a "b"', "c,d\n", "\u202eאבג", "'; --", "100%"];
    const spans = names.flatMap((customer_identifier, index) =>
      [1, 2, 6].map((latency) => ({ customer_identifier, latency: latency + index * 10, status_code: 200 + index })),
    );
    await storeSpans(own, spans);
    for (const key of ["customer_identifier", "status_code", "customer_identifier,status_code"]) {
      const rows: Row[] = [];
      for (const page of [1, 2, 3]) {
        const query = `group_by=${key}&page=${page}&page_size=2&sort_by=average_latency`;
        rows.push(...(await groups(query, {}, own)).results);
      }
      expect(rows.map(({ p50_latency, p90_latency }) => [p50_latency, p90_latency])).toEqual(
        names.map((_, index) => [2 + index * 10, 5.2 + index * 10]),
      );
      expect(rows.every((row) => row["p50_time_to_first_token"] === null)).toBe(true);
    }
  });

  test("of a trace or thread keeps the environments apart", async () => {
    const answer = await prod.post(`${path}?${always}&group_by=trace&sort_by=-total_cost&environment=all`);
    expect((answer.json as ListAnswer).results.slice(0, 1)).toMatchObject([
      { trace_unique_id: "trace-a", environment: "test", total_cost: 100 },
    ]);
    expect((answer.json as ListAnswer).count).toBe(4);
  });

  test("the response lists available and applied filters", async () => {
    const filters = { model: ["model-a"] };
    const answer = await groups("group_by=model", { filters });
    expect(answer).toMatchObject({ count: 1, next: null, previous: null, current_filters: filters, filters_data: {} });
    expect(await groups("group_by=model&fetch_filters=true")).toHaveProperty("filters_data.cost");
  });
});

describe("sort_by", () => {
  const order = async (query: string) =>
    keysOf(await groups(`group_by=model&${query}`), "model")
      .map((model) => String(model).at(-1))
      .join("");

  test.each<[sortBy: string, order: string]>([
    ["number_of_requests", "cba"],
    ["-number_of_requests", "abc"],
    ["-total_cost", "bca"],
    ["total_cost", "acb"],
    ["-total_tokens", "cab"],
    ["-error_percentage", "cab"],
    ["-average_cost", "bca"],
    ["-average_latency", "cab"],
    ["-cache_hit_percentage", "abc"],
  ])("%s orders the groups %s", async (sortBy, expected) => {
    expect(await order(`sort_by=${sortBy}`)).toBe(expected);
  });

  test.each(["no_such_field", "-no_such_field", "", "model);", "__proto__"])(
    "%j is not an error: the default, number_of_requests, is used",
    async (sortBy) => {
      expect(await order(`sort_by=${encodeURIComponent(sortBy)}`)).toBe(await order("sort_by=number_of_requests"));
      expect(await order("")).toBe(await order("sort_by=number_of_requests"));
    },
  );
});

describe("selection", () => {
  test("filters of the body select spans before they are grouped", async () => {
    const answer = await groups("group_by=model", { filters: { cost: { operator: "gte", value: [5] } } });
    expect(sortedValues(answer.results, "model")).toEqual(["model-b", "model-c"]);
  });

  test("environment and the window of the last hour apply", async () => {
    const { prod: alone } = await app.newOrganization();
    await storeSpans(alone, [{ model: "new" }, { model: "old", timestamp: Date.now() - 2 * 3_600_000 }]);
    const answer = await alone.post(`${path}?group_by=model`);
    expect(keysOf(answer.json as ListAnswer, "model")).toEqual(["new"]);
    const elsewhere = await alone.post(`${path}?group_by=model&environment=test`);
    expect(elsewhere.json).toMatchObject({ count: 0, results: [] });
  });

  test("groups are paged", async () => {
    const first = await groups("group_by=model&page_size=2&sort_by=-number_of_requests");
    expect(keysOf(first, "model")).toEqual(["model-a", "model-b"]);
    expect(first).toMatchObject({ count: 3, previous: null });
    const second = await prod.request("POST", String(first.next), {});
    expect(second.json).toMatchObject({ count: 3, next: null, results: [{ model: "model-c" }] });
    expect((await groups("group_by=model&page=9")).results).toEqual([]);
  });

  test.each(["page=0", "page=x", "page_size=0", "page_size=1001", "page_size=1.5"])("%s is 400", async (query) => {
    const answer = await prod.post(`${path}?group_by=model&${query}`);
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([query.split("=")[0]]);
  });

  test("an unknown filter field is 400", async () => {
    const answer = await prod.post(`${path}?group_by=model`, { filters: { no_such_field: ["x"] } });
    expect(fieldsOf(answer)).toEqual(["no_such_field"]);
  });
});

test("a key without analytics:read may list spans but not group them: 403", async () => {
  const admin = await app.login();
  const made = await admin.post("/api/api-keys/", { name: "lists", environment: "prod", permissions: ["spans:read"] });
  const key = createClient(app.url, String(bodyOf(made)["key"]));
  expect((await key.post("/api/request-logs/list/")).status).toBe(200);
  for (const method of ["GET", "POST"]) {
    const answer = await key.request(method, `${path}?group_by=model`);
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ code: "forbidden", detail: expect.stringContaining("analytics:read") });
  }
});

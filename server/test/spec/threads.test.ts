import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { always, bodyOf, fieldsOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "../support/test-client.ts";
import { ingest, second, traceSpan } from "../support/traces.ts";

let app: TestApp;
let prod: TestClient;
let testKey: TestClient;

beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey } = await app.newOrganization());
  const inThread = (thread: string, members: Row = {}) => ({ thread_identifier: thread, ...members });
  const usage = { log_type: "chat", model: "own-model", prompt_tokens: 10, completion_tokens: 5, cost: 0.5 };
  await ingest(prod, [
    traceSpan("t1", "agent", null, 0, inThread("long", { log_type: "agent", prompt_tokens: 10, cost: 0.5 })),
    traceSpan("t1", "call", "agent", 1, inThread("long", { ...usage, customer_identifier: "anna" })),
    traceSpan("t2", "call", null, 5, inThread("long", { ...usage, customer_identifier: "bert" })),
    traceSpan("t3", "call", null, 8, inThread("short", { ...usage, metadata: { plan: "gold" } })),
    { thread_identifier: "loose", ...usage, timestamp: second(3), start_time: second(2) },
    traceSpan("t4", "call", null, 9, usage),
  ]);
  await ingest(testKey, [traceSpan("t5", "call", null, 4, { ...inThread("long"), ...usage })]);
});
afterAll(() => app.stop());

const path = "/api/log_threads/";

async function list(filters: unknown = {}, query = "", client = prod): Promise<ListAnswer> {
  const answer = await client.post(`${path}?${always}&${query}`, { filters });
  if (answer.status !== 200) throw new Error(`threads answered ${answer.status}: ${answer.text}`);
  return answer.json as ListAnswer;
}
const ids = ({ results }: ListAnswer) => results.map((row) => row["thread_identifier"]);

test("a row has the thread's figures", async () => {
  const answer = await list();
  expect(answer).toMatchObject({ count: 3, next: null, previous: null });
  expect(answer.results[1]).toEqual({
    id: "long",
    thread_identifier: "long",
    environment: "prod",
    log_count: 3,
    trace_count: 2,
    total_cost: 1,
    total_tokens: 30,
    unpriced_count: 0,
    customer_identifier: "anna",
    first_timestamp: second(1),
    last_timestamp: second(6),
  });
  expect(answer.results[2]).toMatchObject({ thread_identifier: "loose", trace_count: 0, customer_identifier: null });
});

test("an unknown cost is null, and the number of calls without a cost is stated", async () => {
  const { prod: own } = await app.newOrganization();
  const call = { log_type: "chat", model: "a-model-without-a-price", prompt_tokens: 10, completion_tokens: 5 };
  await ingest(own, [
    traceSpan("t1", "call", null, 1, { thread_identifier: "unknown", ...call }),
    traceSpan("t2", "call", null, 2, { thread_identifier: "in part", ...call }),
    traceSpan("t3", "call", null, 3, { thread_identifier: "in part", ...call, cost: 0.5 }),
    traceSpan("t4", "call", null, 4, { thread_identifier: "for nothing", ...call, cost: 0 }),
  ]);
  const found = (await list({}, "", own)).results.map((row) => [
    row["thread_identifier"],
    row["total_cost"],
    row["unpriced_count"],
  ]);
  expect(found).toEqual([
    ["for nothing", 0, 0],
    ["in part", 0.5, 1],
    ["unknown", null, 1],
  ]);
});

test("threads are listed newest first; spans without a thread are not listed", async () => {
  expect(ids(await list())).toEqual(["short", "long", "loose"]);
});

test("a page has 100 by default and 1000 at most", async () => {
  const { prod: own } = await app.newOrganization();
  const spans = Array.from({ length: 101 }, (_, n) => traceSpan("t", `${n}`, null, n, { thread_identifier: `${n}` }));
  await ingest(own, spans);
  const first = await list({}, "", own);
  expect([first.count, first.results.length]).toEqual([101, 100]);
  const next = (await own.post(first.next ?? "")).json as ListAnswer;
  expect(new Set([...ids(first), ...ids(next)]).size).toBe(101);
  expect((await list({}, "page_size=1000", own)).results).toHaveLength(101);
  expect((await list({}, "page=9", own)).results).toEqual([]);
  for (const query of ["page_size=1001", "page=0", "page_size=x"]) {
    const answer = await own.post(`${path}?${query}`, {});
    expect([answer.status, fieldsOf(answer)]).toEqual([400, [query.split("=")[0]]]);
  }
});

test("the environment is that of the key", async () => {
  for (const query of ["", "environment=test", "environment=prod", "environment=all"]) {
    expect(ids(await list({}, query))).toEqual(["short", "long", "loose"]);
    expect((await list({}, query, testKey)).results).toMatchObject([{ environment: "test", log_count: 1 }]);
  }
});

test("another organisation's threads of the same name are not included", async () => {
  const { prod: own } = await app.newOrganization();
  expect((await list({}, "", own)).count).toBe(0);
  await ingest(own, [traceSpan("t1", "x", null, 0, { thread_identifier: "long" })]);
  expect((await list({}, "", own)).results).toMatchObject([{ thread_identifier: "long", log_count: 1 }]);
});

describe("filters", () => {
  test.each<[name: string, filters: Row, found: string[]]>([
    ["thread_identifier", { thread_identifier: { operator: "startswith", value: ["l"] } }, ["long", "loose"]],
    ["customer_identifier of any span", { customer_identifier: ["bert"] }, ["long"]],
    ["no span of a customer", { customer_identifier: { operator: "not", value: ["anna"] } }, ["short", "loose"]],
    [
      "a customer that no span names",
      { customer_identifier: { operator: "isnull", value: [true] } },
      ["short", "loose"],
    ],
    ["log_count", { log_count: { operator: "gt", value: [1] } }, ["long"]],
    ["total_cost", { total_cost: [0.5] }, ["short", "loose"]],
    ["metadata", { metadata__plan: ["gold"] }, ["short"]],
    ["trace_unique_id", { trace_unique_id: ["t2"] }, ["long"]],
  ])("by %s", async (_name, filters, found) => {
    expect(ids(await list(filters))).toEqual(found);
  });

  test("by organization_key_id", async () => {
    const { results } = (await prod.post(`/api/request-logs/list/?${always}&page_size=1`)).json as ListAnswer;
    expect((await list({ organization_key_id: [results[0]?.["organization_key_id"]] })).count).toBe(3);
    expect((await list({ organization_key_id: ["another"] })).count).toBe(0);
  });

  test("of the URL apply too, and on GET", async () => {
    const answer = await prod.get(`${path}?${always}&customer_identifier=bert`);
    expect(ids(answer.json as ListAnswer)).toEqual(["long"]);
  });

  test("of unknown fields are 400 naming them", async () => {
    const answer = await prod.post(path, { filters: { thread: ["x"] } });
    expect([answer.status, fieldsOf(answer)]).toEqual([400, ["thread"]]);
  });
});

test.each([
  ["-log_count", "long"],
  ["log_count", "loose"],
  ["first_timestamp", "long"],
  ["-total_tokens", "long"],
  ["timestamp", "loose"],
])("sort_by=%s begins with %s", async (sort, first) => {
  expect(ids(await list({}, `sort_by=${sort}`))[0]).toBe(first);
});

test("with fetch_filters lists the available filters", async () => {
  const { json: plain } = await prod.post("/api/log_threads/", {});
  expect(plain).toMatchObject({ filters_data: {}, current_filters: {} });
  const { json } = await prod.post("/api/log_threads/?fetch_filters=true", {});
  expect(json).toHaveProperty("filters_data.log_count.operator_choices");
});

test("an unknown sort_by is 400", async () => {
  expect(fieldsOf(await prod.post(`${path}?sort_by=name`, {}))).toEqual(["sort_by"]);
});

test("the window is the last hour by default", async () => {
  const { prod: own } = await app.newOrganization();
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  await ingest(own, [
    { thread_identifier: "new", timestamp: ago(5) },
    { thread_identifier: "old", timestamp: ago(65) },
  ]);
  expect(ids((await own.post(path, {})).json as ListAnswer)).toEqual(["new"]);
  expect(ids((await own.post(`${path}?start_time=${ago(70)}`, {})).json as ListAnswer)).toEqual(["new", "old"]);
});

test("without credentials it is 401", async () => {
  const answer = await createClient(app.url).post(path, {});
  expect([answer.status, bodyOf(answer)["code"]]).toEqual([401, "unauthorized"]);
});

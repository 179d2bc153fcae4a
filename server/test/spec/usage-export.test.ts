import { afterAll, beforeAll, expect, test } from "vitest";
import { csvRecords, exportRows } from "../support/exports.ts";
import { always, bodyOf, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

/** Section C of the additions: exports of customers' usage. */

let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
const path = "/api/users/export/";
const used = (customer_identifier: string | null, day: string, model: string, fields: Row = {}): Row => ({
  customer_identifier,
  timestamp: `${day}T12:00:00Z`,
  model,
  log_type: "chat",
  prompt_tokens: 2,
  completion_tokens: 1,
  cost: 0.1,
  ...fields,
});

beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey } = await app.newOrganization());
  const { prod: other } = await app.newOrganization();
  await storeSpans(prod, [
    used("acme", "2026-01-31", "m1"),
    used("acme", "2026-01-31", "m1", { status_code: 500, cost: 0.2 }),
    used("acme", "2026-02-01", "m1"),
    used("acme", "2026-02-01", "m2", { cost: undefined }),
    used("=cmd|x", "2026-02-01", "m1"),
    used(null, "2026-02-01", "m1"),
    // A wrapper that restates the usage of the call below it, for a customer that only it names.
    { ...used("wrapped", "2026-03-01", "m1"), log_type: "workflow", trace_unique_id: "t", span_unique_id: "a" },
    { ...used(null, "2026-03-01", "m1"), trace_unique_id: "t", span_unique_id: "b", span_parent_id: "a" },
  ]);
  await storeSpans(testKey, [used("acme", "2026-01-31", "m1")]);
  await storeSpans(other, [used("acme", "2026-01-31", "m1")]);
  for (const client of [prod, other]) {
    const markup_percentage = client === prod ? 20 : 50;
    const answer = await client.request("PATCH", "/api/users/acme/", { markup_percentage });
    if (answer.status !== 200) throw new Error(`PATCH answered ${answer.status}`);
  }
}, 60_000);
afterAll(() => app.stop());

const acme = { customer_identifier: { operator: "", value: ["acme"] } };
const fields = "fields=period_start,model,number_of_requests,total_cost,total_cost_with_markup";
const sorted = (rows: Row[]): Row[] => rows.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));

test("JSON Lines have a row for each customer, day, model and environment, with and without markup", async () => {
  const rows = sorted(await exportRows(prod, path, acme));
  const row = { customer_identifier: "acme", environment: "prod", markup_percentage: 20 };
  const once = {
    number_of_requests: 1,
    error_count: 0,
    total_prompt_tokens: 2,
    total_completion_tokens: 1,
    total_tokens: 3,
  };
  expect(rows).toEqual([
    {
      ...row,
      period_start: "2026-01-31",
      model: "m1",
      number_of_requests: 2,
      error_count: 1,
      total_prompt_tokens: 4,
      total_completion_tokens: 2,
      total_tokens: 6,
      unpriced_count: 0,
      total_cost: 0.3,
      total_cost_with_markup: 0.36,
    },
    {
      ...row,
      ...once,
      period_start: "2026-02-01",
      model: "m1",
      unpriced_count: 0,
      total_cost: 0.1,
      total_cost_with_markup: 0.12,
    },
    {
      ...row,
      ...once,
      period_start: "2026-02-01",
      model: "m2",
      unpriced_count: 1,
      total_cost: 0,
      total_cost_with_markup: 0,
    },
  ]);
});

test.each([
  ["week", ["2026-01-26 m1 3 0.4 0.48", "2026-01-26 m2 1 0 0"]],
  ["month", ["2026-01-01 m1 2 0.3 0.36", "2026-02-01 m1 1 0.1 0.12", "2026-02-01 m2 1 0 0"]],
])("of each %s", async (period, expected) => {
  const rows = await exportRows(prod, path, acme, `period=${period}&${fields}`);
  expect(rows.map((row) => Object.values(row).join(" ")).toSorted()).toEqual(expected);
});

test("CSV has the same, without formulas", async () => {
  const answer = await prod.post(`${path}?${always}&format=csv&period=month`, {});
  expect(answer.headers.get("content-type")).toContain("text/csv");
  expect(answer.headers.get("content-disposition")).toContain('filename="usage-prod-');
  const records = csvRecords(answer.text);
  expect(records.map((record) => record["customer_identifier"])).toContain("'=cmd|x");
  expect(records.filter((record) => record["customer_identifier"] === "acme")).toHaveLength(3);
});

test.each(["jsonl", "csv"])("%s is compressed with gzip if the client accepts it", async (format) => {
  const encodingOf = async (accepted: string) => {
    const answer = await prod.post(`${path}?${always}&format=${format}`, {}, { "accept-encoding": accepted });
    expect(answer.text).toContain("acme");
    return answer.headers.get("content-encoding");
  };
  expect([await encodingOf("gzip"), await encodingOf("identity")]).toEqual(["gzip", null]);
});

test("the highest cost comes first, and amounts in CSV are plain decimals with all their digits", async () => {
  const { prod: own } = await app.newOrganization();
  const costs = { small: 3.6e-7, large: 12.5, smallest: 1e-12, exact: 0.123456789012 };
  await storeSpans(
    own,
    Object.entries(costs).map(([customer, cost]) => used(customer, "2026-02-01", "m1", { cost })),
  );
  const csv = async (from: string, requested: string) =>
    csvRecords((await own.post(`${from}?${always}&format=csv&fields=${requested}`, {})).text).map(Object.values);
  expect(await csv(path, "customer_identifier,total_cost,total_cost_with_markup")).toEqual([
    ["large", "12.5", "12.5"],
    ["exact", "0.123456789012", "0.123456789012"],
    ["small", "0.00000036", "0.00000036"],
    ["smallest", "0.000000000001", "0.000000000001"],
  ]);
  const spans = await csv("/api/request-logs/export/", "cost,counted_cost");
  expect(spans.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1))).toEqual(
    ["0.000000000001", "0.00000036", "0.123456789012", "12.5"].map((cost) => [cost, cost]),
  );
});

test("counts usage once, for the right customer, and omits usage without a customer", async () => {
  const rows = await exportRows(prod, path, {}, "period=month&fields=customer_identifier,total_cost,total_tokens");
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
  expect(rows.filter((row) => row["customer_identifier"] === "wrapped")).toEqual([
    { customer_identifier: "wrapped", total_cost: 0.1, total_tokens: 3 },
  ]);
  const summary = bodyOf(await prod.post(`/api/request-logs/summary/?${always}&environment=prod`, {}));
  expect(sum("total_cost") + 0.1).toBeCloseTo(Number(summary["total_cost"]), 10);
});

test.each([
  ["", { prod: 0.3 }],
  ["environment=test", { test: 0.1 }],
  ["environment=all", { prod: 0.3, test: 0.1 }],
  ["is_test=true", { test: 0.1 }],
])("is of the environment of the key, or of ?%s", async (query, expected) => {
  const rows = await exportRows(prod, path, acme, `${query}&period=month&fields=environment,period_start,total_cost`);
  const january = rows.filter((row) => row["period_start"] === "2026-01-01");
  expect(Object.fromEntries(january.map((row) => [row["environment"], row["total_cost"]]))).toEqual(expected);
});

test.each([
  ["", "start_time"],
  ["start_time=2026-01-01&format=parquet", "format"],
  ["start_time=2026-01-01&period=year", "period"],
  ["start_time=2026-01-01&fields=cost", "fields"],
])("?%s is refused, naming %s", async (query, name) => {
  const answer = await prod.post(`${path}?${query}`, {});
  expect(answer.status).toBe(400);
  expect(bodyOf(answer)["errors"]).toHaveProperty(name);
});

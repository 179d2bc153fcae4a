import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newAutomation, newCondition, policy } from "../support/evaluation.ts";
import { bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type ListAnswer, type TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
});
afterAll(() => app.stop());

const path = "/automation/conditions/";
const body = (fields = {}) => ({
  name: "Failures",
  condition_slug: `failures-${randomUUID().slice(0, 8)}`,
  condition_type: "single_log",
  condition_policy: policy({ field: "status_code", operator: "equals", value: 500 }),
  ...fields,
});
const listed = async (client: TestClient, query = "") =>
  (await client.get(`${path}?${query}`)).json as ListAnswer & { filters_data: unknown };

describe("POST /automation/conditions/", () => {
  test("returns the condition with the members of the interface", async () => {
    const sent = body({ description: "What went wrong" });
    const answer = await prod.post(path, sent);
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      ...sent,
      id: expect.any(String),
      unique_organization_id: expect.any(String),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(bodyOf(await prod.get(`${path}${String(bodyOf(answer)["id"])}/`))).toEqual(answer.json);
    expect(bodyOf(await prod.get(`/api/conditions/${sent.condition_slug}`))).toEqual(answer.json);
  });

  test.each([
    "equals",
    "not_equals",
    "greater_than",
    "less_than",
    "greater_than_or_equal",
    "less_than_or_equal",
    "contains",
    "not_contains",
    "in",
    "not_in",
  ])("takes the operator %s", async (operator) => {
    const rule = {
      field: operator.endsWith("contains") ? "model" : "metadata.tier",
      operator,
      value: operator.endsWith("in") ? ["a", "b"] : "3",
    };
    const answer = await prod.post("/api/conditions/", body({ condition_policy: policy(rule) }));
    expect(answer.status).toBe(201);
  });

  test.each(["status_code", "latency", "total_tokens", "input_tokens", "output_tokens", "cost"])(
    "accepts the field %s",
    async (field) => {
      const rule = { field, operator: "greater_than", value: 3 };
      expect((await prod.post(path, body({ condition_policy: policy(rule) }))).status).toBe(201);
    },
  );

  test.each<[what: string, policy: unknown, message: RegExp]>([
    [
      "an unknown operator",
      policy({ field: "cost", operator: "resembles", value: 1 }),
      /resembles.*cost|cost.*resembles/,
    ],
    ["an unknown field", policy({ field: "price_of_fish", operator: "equals", value: 1 }), /price_of_fish/],
    ["an operator that does not apply", policy({ field: "cost", operator: "contains", value: "1" }), /contains.*cost/],
    ["a value of another type", policy({ field: "cost", operator: "equals", value: "much" }), /cost/],
    ["no value", policy({ field: "cost", operator: "equals" }), /cost/],
    ["another connector", { rules: [], connector: "XOR" }, /connector/],
    ["rules that are no list", { rules: {} }, /rules/],
    ["no rules", {}, /rules/],
    ["a rule that is no object", { rules: ["cost"] }, /rule 0/],
    ["a text", "cost > 1", /rules/],
    [
      "too many rules",
      policy(...Array.from({ length: 101 }, () => ({ field: "cost", operator: "equals", value: 1 }))),
      /100/,
    ],
    ["a score, which does not exist yet", policy({ field: "scores__x", operator: "equals", value: 1 }), /scores__x/],
  ])("refuses a policy with %s: 400 {condition_policy: [message]}", async (_what, condition_policy, message) => {
    const answer = await prod.post(path, body({ condition_policy }));
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ condition_policy: [expect.stringMatching(message)] });
  });

  test("refuses an unknown condition_type: 422 {condition_type: [message]}", async () => {
    const answer = await prod.post(path, body({ condition_type: "aggregation" }));
    expect(answer.status).toBe(422);
    expect(answer.json).toEqual({ condition_type: [expect.stringContaining("single_log")] });
  });

  test.each(["name", "condition_slug", "condition_type"])("refuses a body without %s", async (field) => {
    const answer = await prod.post(path, body({ [field]: undefined }));
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ [field]: [expect.any(String)] });
  });

  const anId = "3f2b8c1e-9d4a-4e6b-8a7c-5d1e2f3a4b5c";
  test.each([".", "..", "list", "a b", anId])("refuses the slug %s", async (condition_slug) => {
    const answer = await prod.post(path, body({ condition_slug }));
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ condition_slug: [expect.any(String)] });
  });

  test("refuses a slug that is taken in the organization, and in no other", async () => {
    const taken = await newCondition(prod);
    const again = body({ condition_slug: taken["condition_slug"] });
    const answer = await prod.post(path, again);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ condition_slug: [expect.any(String)] });
    const { prod: other } = await app.newOrganization();
    expect((await other.post(path, again)).status).toBe(201);
  });
});

describe("GET /automation/conditions/", () => {
  test("lists the organization's conditions in pages of 20", async () => {
    const { prod: client, test: testKey } = await app.newOrganization();
    for (let i = 0; i < 21; i += 1) await newCondition(client, { name: `Condition ${i}` });
    const first = await listed(client);
    expect(first).toMatchObject({ count: 21, previous: null, filters_data: {} });
    expect(first.results).toHaveLength(20);
    const second = await client.get(String(first.next));
    expect(second.json).toMatchObject({ count: 21, next: null, results: [{ name: "Condition 0" }] });
    expect((await listed(testKey)).count).toBe(21);
    expect((await listed(client, "page=9")).results).toEqual([]);
    expect((await listed(client, "page_size=5&page=2")).results).toHaveLength(5);
  });

  test("searches name and slug, filters by type, and reports what it applied", async () => {
    const { prod: client } = await app.newOrganization();
    await newCondition(client, { name: "Expensive Calls", condition_slug: "a" });
    await newCondition(client, { name: "Others", condition_slug: "slow-calls" });
    const names = async (query: string) => (await listed(client, query)).results.map(({ name }) => String(name)).sort();
    expect(await names("search=CALLS")).toEqual(["Expensive Calls", "Others"]);
    expect(await names("search=slow-")).toEqual(["Others"]);
    expect(await names("search=%25")).toEqual([]);
    expect(await names("condition_type=single_log")).toHaveLength(2);
    expect(await names("condition_type=aggregation")).toEqual([]);
    expect((await listed(client, "search=slow&condition_type=single_log")).filters_data).toEqual({
      search: "slow",
      condition_type: "single_log",
    });
  });

  test.each(["0", "-1", "x", "1.5", "1e3"])("returns 400 {detail} for the page %s", async (page) => {
    const answer = await prod.get(`${path}?page=${page}`);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ detail: expect.stringContaining("page") });
  });
});

describe("PATCH and DELETE /automation/conditions/{id}/", () => {
  test("change the given fields, and delete it", async () => {
    const made = await newCondition(prod);
    const changed = await prod.request("PATCH", `${path}${String(made["id"])}/`, { name: "Renamed" });
    expect(changed.json).toEqual({ ...made, name: "Renamed", updated_at: expect.any(String) });
    const bad = await prod.request("PATCH", `${path}${String(made["id"])}/`, {
      condition_policy: policy({ field: "nothing", value: 1 }),
    });
    expect(bad.json).toEqual({ condition_policy: [expect.stringContaining("nothing")] });
    expect((await prod.request("DELETE", `${path}${String(made["id"])}/`)).status).toBe(204);
    expect((await prod.get(`${path}${String(made["id"])}/`)).status).toBe(404);
    expect((await prod.request("DELETE", `${path}${String(made["id"])}/`)).status).toBe(404);
  });

  test("refuse to delete a condition in use, naming the automation", async () => {
    const condition = await newCondition(prod);
    await newAutomation(prod, { name: "Still needs it", condition: condition["id"] });
    const answer = await prod.request("DELETE", `${path}${String(condition["id"])}/`);
    expect(answer.status).toBe(409);
    expect(answer.json).toMatchObject({ detail: expect.stringContaining("Still needs it") });
    expect((await prod.get(`${path}${String(condition["id"])}/`)).status).toBe(200);
  });
});

test("conditions are for API keys of their own organization", async () => {
  const made = await newCondition(prod);
  const one = `${path}${String(made["id"])}/`;
  for (const client of [await app.login(), createClient(app.url)]) {
    for (const [method, route] of [
      ["GET", path],
      ["POST", path],
      ["GET", one],
      ["PATCH", one],
      ["DELETE", one],
    ] as const) {
      const answer = await client.request(method, route, method === "GET" ? undefined : {});
      expect([method, answer.status, answer.json]).toEqual([
        method,
        401,
        expect.objectContaining({ detail: expect.any(String) }),
      ]);
    }
  }
  const { prod: other } = await app.newOrganization();
  expect((await other.get(one)).status).toBe(404);
  expect((await other.request("PATCH", one, { name: "Mine" })).status).toBe(404);
  expect((await other.request("DELETE", one)).status).toBe(404);
  expect((await listed(other)).count).toBe(0);
});

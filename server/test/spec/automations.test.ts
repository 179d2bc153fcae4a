import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newAutomation, newCondition, newEvaluator } from "../support/evaluation.ts";
import { bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
let condition: Row;
let evaluator: Row;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
  condition = await newCondition(prod);
  evaluator = await newEvaluator(prod);
});
afterAll(() => app.stop());

const path = "/automation/automations/";
const body = (fields = {}) => ({
  automation_slug: `judge-${randomUUID().slice(0, 8)}`,
  name: "Judge",
  automation_type: "online_eval",
  condition: condition["id"],
  evaluator_ids: [evaluator["id"]],
  configuration: { sampling_rate: 0.5 },
  ...fields,
});
const patch = (id: unknown, change: unknown, client = prod) => client.request("PATCH", `${path}${String(id)}/`, change);

describe("an automation", () => {
  test("is returned with the members of the interface", async () => {
    const sent = body();
    const answer = await prod.post(path, sent);
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      id: expect.any(String),
      automation_slug: sent.automation_slug,
      name: "Judge",
      automation_type: "online_eval",
      environment: "prod",
      condition: {
        id: condition["id"],
        condition_slug: condition["condition_slug"],
        name: condition["name"],
        condition_type: "single_log",
      },
      evaluator_ids: [evaluator["id"]],
      evaluator_details: [
        {
          id: evaluator["id"],
          name: evaluator["name"],
          evaluator_slug: evaluator["evaluator_slug"],
          eval_class: "custom_code",
        },
      ],
      is_enabled: false,
      configuration: { evaluator_ids: [evaluator["id"]], sampling_rate: 0.5 },
      last_error: null,
      last_error_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    const id = String(bodyOf(answer)["id"]);
    for (const route of [`${path}${id}/`, `${path}${sent.automation_slug}/`, `/api/automations/${id}`]) {
      expect((await prod.get(route)).json).toEqual(answer.json);
    }
  });

  test("has the environment of its key, regardless of the body", async () => {
    const { test: testKey } = await app.newOrganization();
    expect(await newAutomation(testKey, { environment: "prod" })).toMatchObject({ environment: "test" });
  });

  test("is listed, searched and deleted", async () => {
    const { prod: client, test: testKey } = await app.newOrganization();
    const first = await newAutomation(client, { name: "Alpha" });
    await newAutomation(testKey, { name: "Beta", is_enabled: false });
    const list = async (query = "") => (await client.get(`${path}?${query}`)).json as ListAnswer;
    expect(await list()).toMatchObject({
      count: 2,
      next: null,
      previous: null,
      results: [{ name: "Beta" }, { name: "Alpha" }],
    });
    expect((await list("search=ALPHA")).results).toEqual([first]);
    expect((await list("is_enabled=false")).results).toMatchObject([{ name: "Beta" }]);
    expect((await list("page=2&page_size=1")).results).toEqual([first]);
    expect((await client.request("DELETE", `${path}${String(first["id"])}/`)).status).toBe(204);
    expect((await client.get(`${path}${String(first["id"])}/`)).status).toBe(404);
    expect((await list()).count).toBe(1);
  });
});

describe("PATCH /automation/automations/{automation_id}/", () => {
  test("changes only what is supplied, by id or slug", async () => {
    const made = await newAutomation(prod, { is_enabled: false });
    const enabled = await patch(made["automation_slug"], { is_enabled: true });
    expect(enabled.status).toBe(200);
    expect(enabled.json).toEqual({ ...made, is_enabled: true, updated_at: expect.any(String) });
    const disabled = await patch(made["id"], { is_enabled: false });
    expect(disabled.json).toEqual({ ...made, updated_at: expect.any(String) });
    expect(bodyOf(await patch(made["id"], {}))).toEqual({ ...made, updated_at: expect.any(String) });
  });

  test("merges configuration with the stored one", async () => {
    const made = await newAutomation(prod, { configuration: { sampling_rate: 0.25, note: "kept" } });
    const { configuration } = bodyOf(await patch(made["id"], { configuration: { daily_budget: 2 } }));
    expect(configuration).toEqual({
      evaluator_ids: made["evaluator_ids"],
      sampling_rate: 0.25,
      note: "kept",
      daily_budget: 2,
    });
    const changed = bodyOf(await patch(made["id"], { configuration: { sampling_rate: 0 } }));
    expect(changed["configuration"]).toMatchObject({ sampling_rate: 0, note: "kept", daily_budget: 2 });
    const freed = bodyOf(await patch(made["id"], { configuration: { daily_budget: null } }));
    expect(freed["configuration"]).toEqual({ evaluator_ids: made["evaluator_ids"], sampling_rate: 0, note: "kept" });
  });

  test("replaces the whole list of evaluators, in the order given", async () => {
    const made = await newAutomation(prod);
    const [a, b] = [await newEvaluator(prod), await newEvaluator(prod)];
    const changed = bodyOf(await patch(made["id"], { evaluator_ids: [b["id"], a["id"], b["id"]] }));
    expect(changed["evaluator_ids"]).toEqual([b["id"], a["id"]]);
    expect(changed["evaluator_details"]).toMatchObject([{ id: b["id"] }, { id: a["id"] }]);
    expect(changed["configuration"]).toEqual({ evaluator_ids: [b["id"], a["id"]], sampling_rate: 1 });
    expect(bodyOf(await prod.get(`${path}${String(made["id"])}/`))).toEqual(changed);
    const bySlug = bodyOf(await patch(made["id"], { evaluator_ids: [b["evaluator_slug"], b["id"]] }));
    expect(bySlug["evaluator_ids"]).toEqual([b["id"]]);
    const within = bodyOf(await patch(made["id"], { configuration: { evaluator_ids: [a["id"]] } }));
    expect(within).toMatchObject({ evaluator_ids: [a["id"]], configuration: { evaluator_ids: [a["id"]] } });
    expect(await patch(made["id"], { configuration: { evaluator_ids: ["nobody"] } })).toMatchObject({
      status: 400,
      json: { evaluator_ids: [expect.stringContaining("nobody")] },
    });
  });
});

describe.each<[what: string, send: (fields: object) => Promise<{ status: number; json: unknown }>]>([
  ["POST", (fields) => prod.post(path, body(fields))],
  ["PATCH", async (fields) => patch((await newAutomation(prod))["id"], fields)],
])("%s refuses", (_method, send) => {
  test("unknown evaluators: 400 {evaluator_ids: [message listing them]}", async () => {
    const { prod: other } = await app.newOrganization();
    const foreign = (await newEvaluator(other))["id"];
    const { status, json } = await send({ evaluator_ids: [evaluator["id"], "nobody", foreign] });
    expect(status).toBe(400);
    expect(json).toEqual({ evaluator_ids: [expect.stringMatching(new RegExp(`nobody.*${String(foreign)}`))] });
    expect(JSON.stringify(json)).not.toContain(evaluator["id"]);
  });

  test.each([[-0.1], [1.1], ["0.5"], [null], [true]])(
    "the sampling rate %j: 400 {configuration: {sampling_rate: [message]}}",
    async (sampling_rate) => {
      const { status, json } = await send({ configuration: { sampling_rate } });
      expect(status).toBe(400);
      expect(json).toEqual({ configuration: { sampling_rate: [expect.stringMatching(/0\.0 to 1\.0/)] } });
    },
  );

  test("an empty list of evaluators: 400 {evaluator_ids: [message]}", async () => {
    const { status, json } = await send({ evaluator_ids: [] });
    expect(status).toBe(400);
    expect(json).toEqual({ evaluator_ids: [expect.stringMatching(/at least one evaluator is required/i)] });
  });

  test.each([[["x", 1]], ["x"], [null], [{}]])("the list of evaluators %j", async (evaluator_ids) => {
    const { status, json } = await send({ evaluator_ids });
    expect(status).toBe(400);
    expect(json).toEqual({ evaluator_ids: [expect.any(String)] });
  });

  test("an unknown condition: 400 {condition: [message]}", async () => {
    const { status, json } = await send({ condition: "nothing" });
    expect(status).toBe(400);
    expect(json).toEqual({ condition: [expect.any(String)] });
  });

  test("an enabled that is not a boolean", async () => {
    expect(await send({ is_enabled: "yes" })).toMatchObject({
      status: 400,
      json: { is_enabled: [expect.any(String)] },
    });
  });
});

test("the sampling rates 0 and 1 are in range", async () => {
  for (const sampling_rate of [0, 1]) {
    expect((await prod.post(path, body({ configuration: { sampling_rate } }))).status).toBe(201);
  }
});

test("a slug that is taken is refused, in its organization", async () => {
  const taken = body();
  await prod.post(path, taken);
  expect(await prod.post(path, taken)).toMatchObject({ status: 400, json: { automation_slug: [expect.any(String)] } });
});

test("an unknown automation is 404 {detail}", async () => {
  for (const method of ["GET", "PATCH", "DELETE"]) {
    const answer = await prod.request(method, `${path}nothing/`, method === "GET" ? undefined : {});
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({ detail: expect.stringMatching(/not found/) });
  }
});

test("automations are for API keys of their own organization; a JWT or no credential is 401 {detail}", async () => {
  const made = await newAutomation(prod);
  const one = `${path}${String(made["id"])}/`;
  const routes = [
    ["GET", path],
    ["POST", path],
    ["GET", one],
    ["PATCH", one],
    ["DELETE", one],
    ["PATCH", `/api/automations/${String(made["id"])}`],
  ] as const;
  for (const client of [await app.login(), createClient(app.url)]) {
    for (const [method, route] of routes) {
      const answer = await client.request(method, route, method === "GET" ? undefined : {});
      expect([method, answer.status, answer.json]).toEqual([
        method,
        401,
        expect.objectContaining({ detail: expect.stringContaining("not provided") }),
      ]);
    }
  }
  const { prod: other } = await app.newOrganization();
  expect((await other.get(one)).status).toBe(404);
  expect((await patch(made["id"], { is_enabled: false }, other)).status).toBe(404);
  expect((await other.request("DELETE", one)).status).toBe(404);
  expect((await prod.get(one)).json).toEqual(made);
});

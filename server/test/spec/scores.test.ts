import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, newEvaluator } from "../support/evaluation.ts";
import { always, bodyOf, createSpan, listSpans, retrieveSpan, settle, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
});
afterAll(() => app.stop());

const path = "/api/scores/";
const human = (fields: Row = {}, client = prod) =>
  newEvaluator(client, { type: "human", code_config: null, ...fields });
const newLog = async (client = prod, fields: Row = {}) =>
  (await createSpan(client, { output: "x", ...fields }))["unique_id"];
const score = (fields: Row, client = prod) => client.post(path, fields);

describe("a score", () => {
  test("is returned with its members, and is part of its log", async () => {
    const [log_id, evaluator] = [
      await newLog(),
      await human({ passing_conditions: { primary_score: { operator: "gte", value: 3 } } }),
    ];
    const answer = await score({
      log_id,
      evaluator_id: evaluator["id"],
      numerical_value: 4,
      explanation: "Good",
      scorer: "Ada",
    });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      id: expect.any(String),
      log_id,
      environment: "prod",
      evaluator_id: evaluator["id"],
      evaluator_slug: evaluator["evaluator_slug"],
      evaluator_name: evaluator["name"],
      type: "human",
      score_value_type: "numerical",
      numerical_value: 4,
      string_value: null,
      boolean_value: null,
      categorical_value: null,
      json_value: null,
      is_passed: true,
      explanation: "Good",
      cost: null,
      scorer: "Ada",
      automation_id: null,
      status: "success",
      error_message: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const id = String(bodyOf(answer)["id"]);
    for (const route of [`${path}${id}/`, `/api/logs/${String(log_id)}/scores/${id}/`]) {
      expect((await prod.get(route)).json).toEqual(answer.json);
    }
    const { scores } = await retrieveSpan(prod, log_id);
    expect(scores).toEqual({
      [String(evaluator["id"])]: {
        id,
        evaluator_id: evaluator["id"],
        evaluator_slug: evaluator["evaluator_slug"],
        evaluator_name: evaluator["name"],
        score_value_type: "numerical",
        numerical_value: 4,
        string_value: null,
        boolean_value: null,
        categorical_value: null,
        json_value: null,
        score_value: 4,
        is_passed: true,
        explanation: "Good",
        status: "success",
        error_message: null,
      },
    });
  });

  test("is the only one of its evaluator and log: a second is 409 {error}", async () => {
    const [log_id, evaluator] = [await newLog(), await human()];
    const sent = { log_id, evaluator_id: evaluator["id"], numerical_value: 1 };
    const first = await score(sent);
    const races = await Promise.all([
      score(sent),
      prod.post(`/api/logs/${String(log_id)}/scores/`, { ...sent, numerical_value: 2 }),
    ]);
    for (const answer of races) expect(answer).toMatchObject({ status: 409, json: { error: expect.any(String) } });
    expect((await prod.get(`${path}${String(bodyOf(first)["id"])}/`)).json).toEqual(first.json);
    const others = [await human(), await human()];
    for (const other of others) expect((await score({ ...sent, evaluator_id: other["id"] })).status).toBe(201);
    expect(((await prod.get(`/api/logs/${String(log_id)}/scores/`)).json as ListAnswer).count).toBe(3);
  });

  test("posted twice concurrently is created once", async () => {
    const [log_id, evaluator] = [await newLog(), await human()];
    const sent = { log_id, evaluator_id: evaluator["id"], numerical_value: 1 };
    await retrieveSpan(prod, log_id);
    const answers = await Promise.all(Array.from({ length: 8 }, () => score(sent)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: 7 }, () => 409),
    ]);
  });

  const choices = { score_config: { choices: [{ name: "good" }, { name: "bad" }] } };
  test.each<[type: string, config: Row, sent: Row, stored: Row]>([
    ["numerical", {}, { numerical_value: -2.5 }, { numerical_value: -2.5 }],
    ["percentage", {}, { numerical_value: 50 }, { numerical_value: 50 }],
    ["boolean", {}, { boolean_value: false }, { boolean_value: false }],
    ["text", {}, { string_value: "fine ✓" }, { string_value: "fine ✓" }],
    ["single_select", choices, { categorical_value: ["good"] }, { categorical_value: ["good"] }],
    ["multi_select", choices, { categorical_value: ["bad", "good"] }, { categorical_value: ["bad", "good"] }],
    ["json", {}, { json_value: { a: [1] } }, { json_value: '{"a":[1]}' }],
    ["json", {}, { json_value: '{"a": 1}' }, { json_value: '{"a":1}' }],
  ])("of the type %s %j holds %j", async (score_value_type, config, sent, stored) => {
    const evaluator = await human({ score_value_type, ...config });
    const answer = await score({ log_id: await newLog(), evaluator_slug: evaluator["evaluator_slug"], ...sent });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ ...stored, is_passed: null });
  });

  test.each<[what: string, evaluator: Row, sent: Row, field: string]>([
    ["no value", {}, {}, "numerical_value"],
    ["a value of another type", {}, { numerical_value: "4" }, "numerical_value"],
    ["the member of another type", {}, { string_value: "4" }, "string_value"],
    [
      "a number beyond the scale",
      { score_config: { min_score: 0, max_score: 5 } },
      { numerical_value: 6 },
      "numerical_value",
    ],
    ["a percentage beyond 100", { score_value_type: "percentage" }, { numerical_value: 101 }, "numerical_value"],
    [
      "an unknown choice",
      { score_value_type: "multi_select", ...choices },
      { categorical_value: ["ugly"] },
      "categorical_value",
    ],
    [
      "two choices of one",
      { score_value_type: "single_select", ...choices },
      { categorical_value: ["good", "bad"] },
      "categorical_value",
    ],
    ["a text that is too long", { score_value_type: "text" }, { string_value: "x".repeat(65_537) }, "string_value"],
  ])("with %s is refused", async (_what, fields, sent, field) => {
    const answer = await score({ log_id: await newLog(), evaluator_id: (await human(fields))["id"], ...sent });
    expect(answer.status).toBe(400);
    expect(Object.keys(bodyOf(answer))).toEqual([field]);
  });

  test("needs a log and an evaluator of its organization", async () => {
    const [log_id, evaluator] = [await newLog(), await human()];
    const { prod: other } = await app.newOrganization();
    const sent = { log_id, evaluator_id: evaluator["id"], numerical_value: 1 };
    expect((await score({ ...sent, evaluator_id: "nobody" })).json).toEqual({ evaluator_id: [expect.any(String)] });
    expect((await score({ ...sent, evaluator_id: undefined })).status).toBe(400);
    const bySlug = await score({ ...sent, evaluator_id: undefined, evaluator_slug: "nobody" });
    expect(bySlug.json).toEqual({ evaluator_slug: [expect.any(String)] });
    expect((await score(sent, other)).status).toBe(400);
    expect((await score({ ...sent, evaluator_id: (await human({}, other))["id"] }, other)).status).toBe(404);
    expect((await score({ ...sent, log_id: randomUUID() })).status).toBe(404);
    expect((await score({ ...sent, log_id: "no id" })).status).toBe(404);
  });

  test("is changed by PATCH and PUT, deleted, and created again", async () => {
    const log_id = await newLog();
    const evaluator = await human({ passing_conditions: { primary_score: { operator: "gt", value: 2 } } });
    const sent = { log_id, evaluator_id: evaluator["id"], numerical_value: 1, explanation: "Poor" };
    const made = bodyOf(await score(sent));
    const one = `${path}${String(made["id"])}/`;
    const ofLog = `/api/logs/${String(log_id)}/scores/${String(made["id"])}/`;
    expect(made["is_passed"]).toBe(false);
    expect(bodyOf(await prod.request("PATCH", one, { numerical_value: 3 }))).toEqual({
      ...made,
      numerical_value: 3,
      is_passed: true,
      updated_at: expect.any(String),
    });
    expect(bodyOf(await prod.request("PATCH", ofLog, { explanation: "Fair" }))).toMatchObject({
      numerical_value: 3,
      is_passed: true,
      explanation: "Fair",
    });
    expect(bodyOf(await prod.request("PUT", ofLog, { numerical_value: 2 }))).toMatchObject({
      numerical_value: 2,
      is_passed: false,
      explanation: null,
    });
    expect((await prod.request("PUT", one, {})).status).toBe(400);
    expect((await prod.get(`/api/logs/${String(await newLog())}/scores/${String(made["id"])}/`)).status).toBe(404);
    expect((await prod.request("DELETE", one)).status).toBe(204);
    for (const method of ["GET", "PATCH", "DELETE"]) {
      expect((await prod.request(method, one, method === "GET" ? undefined : { numerical_value: 1 })).status).toBe(404);
    }
    expect((await retrieveSpan(prod, log_id))["scores"]).toEqual({});
    expect((await score(sent)).status).toBe(201);
  });
});

test("scores are listed, by GET and by POST list/, at most 100 per page", async () => {
  const { prod: client, test: testKey } = await app.newOrganization();
  const [a, b] = [await human({}, client), await human({}, client)];
  const [first, second] = [await newLog(client), await newLog(testKey)];
  for (const [log_id, evaluator] of [
    [first, a],
    [first, b],
    [second, a],
  ] as const) {
    const own = log_id === second ? testKey : client;
    await score({ log_id, evaluator_id: evaluator["id"], numerical_value: 1 }, own);
  }
  const count = async (query: string) => {
    const answers = await Promise.all([client.get(`${path}?${query}`), client.post(`${path}list/?${query}`)]);
    expect(answers[0].json).toMatchObject({ results: (answers[1].json as ListAnswer).results });
    return (answers[0].json as ListAnswer).count;
  };
  expect(await count("")).toBe(3);
  expect(await count(`log_id=${String(first)}`)).toBe(2);
  expect(await count(`evaluator_id=${String(a["id"])}`)).toBe(2);
  expect(await count("environment=test")).toBe(1);
  expect((await client.get(`${path}?page_size=101`)).status).toBe(400);
  const { results, next } = (await client.get(`${path}?page_size=2`)).json as ListAnswer;
  expect(results).toHaveLength(2);
  expect((await client.get(String(next))).json).toMatchObject({ results: [{ log_id: first, evaluator_id: a["id"] }] });
});

describe("spans by their scores", () => {
  let client: TestClient;
  let quality: Row;
  let verdict: Row;
  const logs: Record<string, unknown> = {};
  beforeAll(async () => {
    ({ prod: client } = await app.newOrganization());
    quality = await human({}, client);
    verdict = await human({ score_value_type: "boolean", name: "Verdict" }, client);
    for (const [name, value, model] of [
      ["low", 2, "a"],
      ["high", 10, "a"],
      ["none", undefined, "a"],
      ["middle", 9, "b"],
    ] as const) {
      logs[name] = await newLog(client, {
        span_name: name,
        model,
        trace_unique_id: `trace of ${model}`,
        log_type: "chat",
      });
      if (value !== undefined)
        await score({ log_id: logs[name], evaluator_id: quality["id"], numerical_value: value }, client);
    }
    await score({ log_id: logs["low"], evaluator_id: verdict["id"], boolean_value: true }, client);
    await score({ log_id: logs["high"], evaluator_id: verdict["id"], boolean_value: false }, client);
    await settle(client);
    await eventually(async () =>
      (await names(`scores__${String(verdict["id"])}`, { operator: "isnull", value: [false] })).length === 2
        ? true
        : undefined,
    );
  });
  const names = async (field: string, condition: Row, query = "") =>
    (await listSpans(client, { [field]: condition, log_type: { value: ["chat"] } }, query)).results.map((row) =>
      String(row["span_name"]),
    );

  test("are filtered by evaluator id and slug, as numbers and as text", async () => {
    for (const evaluator of [quality["id"], quality["evaluator_slug"]]) {
      const field = `scores__${String(evaluator)}`;
      expect((await names(field, { operator: "gte", value: [9] }, "")).sort()).toEqual(["high", "middle"]);
      expect(await names(field, { operator: "", value: [2] }, "")).toEqual(["low"]);
      expect(await names(field, { operator: "in", value: [2, 10] }, "")).toHaveLength(2);
      expect(await names(field, { operator: "isnull", value: [true] }, "")).toEqual(["none"]);
      expect((await names(field, { operator: "not", value: [2] }, "")).sort()).toEqual(["high", "middle", "none"]);
    }
    expect(await names(`scores__${String(verdict["id"])}`, { value: [true] }, "")).toEqual(["low"]);
    expect(await names("scores__nobody", { operator: "gte", value: [0] }, "")).toEqual([]);
    expect(await names("evaluator_id", { value: [verdict["id"]] }, "")).toHaveLength(2);
  });

  test("are sorted by them, with unscored spans last in both directions", async () => {
    const sorted = async (sort: string) =>
      (await listSpans(client, { log_type: { value: ["chat"] } }, `sort_by=${sort}`)).results.map((row) =>
        String(row["span_name"]),
      );
    const field = `scores__${String(quality["evaluator_slug"])}`;
    expect(await sorted(field)).toEqual(["low", "middle", "high", "none"]);
    expect(await sorted(`-${field}`)).toEqual(["high", "middle", "low", "none"]);
    const pages = await Promise.all(
      [1, 2].map((page) =>
        listSpans(client, { log_type: { value: ["chat"] } }, `sort_by=-${field}&page_size=2&page=${page}`),
      ),
    );
    expect(pages.map(({ count, results }) => [count, results.map((row) => String(row["span_name"]))])).toEqual([
      [4, ["high", "middle"]],
      [4, ["low", "none"]],
    ]);
  });

  test("show them in rows of lists", async () => {
    const { results } = await listSpans(client, { span_name: { value: ["high"] } });
    expect(results[0]?.["scores"]).toMatchObject({
      [String(quality["id"])]: { score_value: 10, evaluator_slug: quality["evaluator_slug"] },
      [String(verdict["id"])]: { score_value: 0, boolean_value: false },
    });
    expect(
      (await listSpans(client, { span_name: { value: ["high"] } }, "include_fields=cost")).results[0],
    ).not.toHaveProperty("scores");
  });

  test("are averaged in the summary, within its filters", async () => {
    const about = (evaluator: Row) => ({
      evaluator_id: evaluator["id"],
      evaluator_slug: evaluator["evaluator_slug"],
      evaluator_name: evaluator["name"],
      score_value_type: evaluator["score_value_type"],
    });
    expect((await summarize(client))["scores"]).toEqual({
      [String(quality["id"])]: { ...about(quality), count: 3, avg_score: 7, true_count: null, false_count: null },
      [String(verdict["id"])]: { ...about(verdict), count: 2, avg_score: 0.5, true_count: 1, false_count: 1 },
    });
    expect((await summarize(client, { span_name: { value: ["low"] } }))["scores"]).toMatchObject({
      [String(quality["id"])]: { avg_score: 2, count: 1 },
    });
    expect(
      (await summarize(client, { [`scores__${String(quality["id"])}`]: { operator: "gt", value: [2] } }))[
        "number_of_requests"
      ],
    ).toBe(2);
  });

  test.each([
    ["model", "a", "b"],
    ["trace", "trace of a", "trace of b"],
  ])("are averaged in groups by %s", async (groupBy, first, second) => {
    const answer = await client.post(`/api/request-logs/groups/?group_by=${groupBy}&${always}`, {
      filters: { log_type: { value: ["chat"] } },
    });
    const rows = (answer.json as ListAnswer).results;
    const key = groupBy === "trace" ? "trace_unique_id" : groupBy;
    const scores = (value: string) => rows.find((row) => row[key] === value)?.["scores"];
    expect(scores(first)).toMatchObject({
      [String(quality["id"])]: { avg_score: 6, count: 2 },
      [String(verdict["id"])]: { true_count: 1 },
    });
    expect(scores(second)).toEqual({ [String(quality["id"])]: expect.objectContaining({ avg_score: 9, count: 1 }) });
  });

  test("find traces by the scores of their spans", async () => {
    const filters = { [`scores__${String(quality["id"])}`]: { operator: "", value: [9] } };
    const answer = await client.post(`/api/traces/list/?${always}`, { filters });
    expect((answer.json as ListAnswer).results.map((row) => row["trace_unique_id"])).toEqual(["trace of b"]);
  });

  test("follow changes and deletions", async () => {
    const log_id = await newLog(client, { span_name: "changing" });
    const made = bodyOf(await score({ log_id, evaluator_id: quality["id"], numerical_value: 77 }, client));
    const field = `scores__${String(quality["id"])}`;
    const found = async (value: number) => (await listSpans(client, { [field]: { value: [value] } })).count;
    await settle(client);
    await eventually(async () => ((await found(77)) === 1 ? true : undefined));
    await client.request("PATCH", `${path}${String(made["id"])}/`, { numerical_value: 78 });
    await eventually(async () => ((await found(78)) === 1 ? true : undefined));
    expect(await found(77)).toBe(0);
    await client.request("DELETE", `${path}${String(made["id"])}/`);
    await eventually(async () => ((await found(78)) === 0 ? true : undefined));
    await score({ log_id, evaluator_id: quality["id"], numerical_value: 79 }, client);
    await eventually(async () => ((await found(79)) === 1 ? true : undefined));
    await client.request("DELETE", `/api/logs/${String(log_id)}/scores/${String(made["id"])}/`);
  });

  test("are not visible to others", async () => {
    const field = `scores__${String(quality["id"])}`;
    expect((await listSpans(prod, { [field]: { operator: "gte", value: [0] } })).count).toBe(0);
    const { prod: other } = await app.newOrganization();
    expect((await summarize(other))["scores"]).toEqual({});
    expect(((await other.get(path)).json as ListAnswer).count).toBe(0);
  });
});

test("scores are for API keys", async () => {
  for (const client of [createClient(app.url), await app.login()]) {
    expect((await client.get(path)).status).toBe(401);
    expect((await client.post(path, {})).status).toBe(401);
    expect((await client.get(`/api/logs/${randomUUID()}/scores/`)).status).toBe(401);
  }
});

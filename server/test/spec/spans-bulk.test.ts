import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";
import { bodyOf, fieldsOf, listSpans, settle, summarize, sortedValues } from "../support/spans.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
});
beforeAll(async () => {
  ({ prod } = await app.newOrganization());
});
afterAll(() => app.stop());

const path = "/api/request-logs/bulk/";
const bulk = (logs: unknown, client = prod): Promise<Answer> => client.post(path, { logs });
const rows = (count: number, more: Row = {}): Row[] =>
  Array.from({ length: count }, (_, n) => ({ input: `row ${n}`, cost: 0.001, ...more }));

describe("rows", () => {
  test("500 are accepted, and every one is stored", async () => {
    const answer = await bulk(rows(500, { custom_identifier: "five hundred" }));
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ success_count: 500, error_count: 0, errors: [], message: expect.any(String) });
    await settle(prod);
    const filters = { custom_identifier: ["five hundred"] };
    expect(await summarize(prod, filters)).toMatchObject({ number_of_requests: 500, total_cost: 0.5 });
    const { results } = await listSpans(prod, filters, "page_size=1000");
    expect(new Set(results.map((row) => row["input"])).size).toBe(500);
  });

  test("501 are refused with 422, and none is stored", async () => {
    const answer = await bulk(rows(501, { custom_identifier: "one too many" }));
    expect(answer.status).toBe(422);
    expect(fieldsOf(answer)).toEqual(["logs"]);
    await settle(prod);
    expect((await listSpans(prod, { custom_identifier: ["one too many"] })).count).toBe(0);
  });

  test("accept the fields and aliases of single create", async () => {
    await bulk([
      { custom_identifier: "aliases", generation_time: 2, ttft: 1, environment: "test", metadata: { _a: 1 } },
    ]);
    await settle(prod);
    expect((await listSpans(prod, { custom_identifier: ["aliases"] })).results).toMatchObject([
      { latency: 2, time_to_first_token: 1, environment: "prod", metadata: {} },
    ]);
  });

  test("are stored in the environment of the key", async () => {
    const { test: testKey } = await app.newOrganization();
    await bulk(rows(1, { environment: "prod" }), testKey);
    await settle(testKey);
    expect((await listSpans(testKey, {}, "environment=test")).count).toBe(1);
    expect((await listSpans(testKey, {}, "environment=prod")).count).toBe(0);
  });
});

describe("partial success", () => {
  test("is 201, with an error for each invalid row by its index", async () => {
    const good = { custom_identifier: "partial" };
    const logs = [good, "text", good, { ...good, latency: "soon", model: 1 }, null, good, [good], 7];
    const answer = await bulk(logs);
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ success_count: 3, error_count: 5 });
    const errors = bodyOf(answer)["errors"] as Row[];
    expect(errors.map((error) => error["index"])).toEqual([1, 3, 4, 6, 7]);
    for (const error of errors) expect(error["error"]).toEqual(expect.stringMatching(/\w/));
    expect(errors[1]).toMatchObject({ errors: { latency: [expect.any(String)], model: [expect.any(String)] } });
    await settle(prod);
    expect((await listSpans(prod, { custom_identifier: ["partial"] })).count).toBe(3);
  });

  test("no text affects the other rows", async () => {
    const custom_identifier = "poison";
    const texts = ["fine", "\ud83d alone", "\u0000 nul", "🙂 pair", "\ufffe", '"\\\n\t'];
    const answer = await bulk(texts.map((input) => ({ custom_identifier, input, metadata: { [input]: input } })));
    expect(answer.json).toMatchObject({ success_count: texts.length, error_count: 0 });
    await settle(prod);
    const { results } = await listSpans(prod, { custom_identifier: [custom_identifier] });
    const stored = texts.map((text) => text.toWellFormed().replace("\0", "\ufffd"));
    expect(sortedValues(results, "input")).toEqual(stored.toSorted());
    for (const { input, metadata } of results) expect(metadata).toEqual({ [String(input)]: input });
  });

  test("a row over 20 MB is refused alone", async () => {
    const logs = [{ input: "small" }, { input: "x".repeat(20 * 1024 * 1024) }];
    const answer = await bulk(logs);
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ success_count: 1, errors: [{ index: 1, code: "payload_too_large" }] });
  });

  test("a row that nests too deep is refused alone", async () => {
    const deep = `{"metadata":${'{"a":'.repeat(1000)}1${"}".repeat(1000)}}`;
    const answer = await prod.post(path, `{"logs":[{},${deep}]}`);
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ success_count: 1, error_count: 1, errors: [{ index: 1 }] });
  });
});

describe("400", () => {
  test("when every row failed, still with the counts and errors", async () => {
    const answer = await bulk([1, { latency: "x" }]);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      success_count: 0,
      error_count: 2,
      errors: [
        { index: 0, error: expect.any(String) },
        { index: 1, error: expect.stringContaining("latency") },
      ],
      detail: expect.any(String),
      code: "invalid_request",
    });
  });

  test.each<[name: string, body: unknown]>([
    ["logs are missing", {}],
    ["logs are null", { logs: null }],
    ["logs are empty", { logs: [] }],
    ["logs are an object", { logs: { 0: {} } }],
    ["logs are text", { logs: "[]" }],
    ["the body is a bare list", [{}]],
    ["the body is null", "null"],
  ])("when %s, naming logs", async (_name, body) => {
    const answer = await prod.post(path, body);
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual(["logs"]);
    expect(bodyOf(answer)["detail"]).toContain("logs");
  });

  test.each([
    ["no JSON", "{"],
    ["empty", ""],
  ])("when the body is %s", async (_name, body) => {
    expect((await prod.post(path, body)).status).toBe(400);
  });
});

describe("size", () => {
  test("a request over 64 MiB is 413", async () => {
    const input = "x".repeat(8 * 1024 * 1024);
    const answer = await prod.post(path, JSON.stringify({ logs: Array.from({ length: 9 }, () => ({ input })) }));
    expect(answer.status).toBe(413);
    expect(answer.json).toMatchObject({ code: "payload_too_large", detail: expect.any(String) });
  });
});

describe("people's access tokens", () => {
  const login = async (): Promise<TestClient> => app.login();

  test("may create in bulk, in prod by default", async () => {
    const user = await login();
    expect((await user.post(path, { logs: [{ custom_identifier: "jwt" }] })).status).toBe(201);
    expect((await user.post(`${path}?environment=test`, { logs: [{ custom_identifier: "jwt" }] })).status).toBe(201);
    await settle(app.prod);
    const { results } = await listSpans(app.prod, { custom_identifier: ["jwt"] });
    expect(sortedValues(results, "environment")).toEqual(["prod", "test"]);
  });

  test("belong to neither environment, and must not name both", async () => {
    const answer = await (await login()).post(`${path}?environment=all`, { logs: [{}] });
    expect([answer.status, fieldsOf(answer)]).toEqual([400, ["environment"]]);
  });
});

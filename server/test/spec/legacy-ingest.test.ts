import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyOf, listSpans, settle, sortedValues } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type Row, type TestClient } from "../support/test-client.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const path = "/api/v1/traces/ingest";
const at = "2026-02-03T04:05:06.000Z";
const span = (id: string, members: Row = {}): Row => ({
  trace_unique_id: "trace-1",
  span_unique_id: id,
  timestamp: at,
  ...members,
});

async function storedBy(client: TestClient, filters: unknown = { log_type: { operator: "not", value: ["marker"] } }) {
  await settle(client);
  return (await listSpans(client, filters, "sort_by=timestamp")).results;
}

describe("the body", () => {
  test("is a raw array of spans, or an object whose data is one", async () => {
    const { prod } = await app.newOrganization();
    for (const body of [[span("a"), span("b")], { data: [span("c", { span_parent_id: "a" })] }]) {
      const answer = await prod.post(path, body);
      expect(answer.status).toBe(200);
      expect(bodyOf(answer)).toMatchObject({ message: expect.any(String), errors: [], error_count: 0 });
    }
    const rows = await storedBy(prod);
    expect(Object.fromEntries(rows.map((row) => [row["span_unique_id"], row["span_parent_id"]]))).toEqual({
      a: null,
      b: null,
      c: "a",
    });
  });

  test.each<[name: string, body: unknown]>([
    ["an object without data", {}],
    ["logs, as the bulk route takes them", { logs: [span("a")] }],
    ["data that is no list", { data: span("a") }],
    ["null", "null"],
    ["a text", '"spans"'],
    ["no JSON", "[{"],
    ["nothing", ""],
  ])("%s is 400", async (_name, body) => {
    const answer = await app.prod.post(path, body);
    expect(answer.status).toBe(400);
    expect(bodyOf(answer)).toMatchObject({ code: "invalid_request", message: expect.any(String) });
  });

  test("can be an empty list, which stores nothing", async () => {
    for (const body of [[], { data: [] }]) {
      const answer = await app.prod.post(path, body);
      expect([answer.status, bodyOf(answer)["ingested_spans"]]).toEqual([200, 0]);
    }
  });

  test("of more rows than one request may have is 413", async () => {
    const answer = await app.prod.post(path, `[${Array.from({ length: 20_001 }, () => "{}").join(",")}]`);
    expect([answer.status, bodyOf(answer)["code"]]).toEqual([413, "payload_too_large"]);
  });
});

describe("rows", () => {
  test("that are invalid do not affect the others", async () => {
    const { prod } = await app.newOrganization();
    const answer = await prod.post(path, [span("a"), 7, span("b", { cost: "free" }), null, span("c")]);
    expect(answer.status).toBe(200);
    expect(bodyOf(answer)).toMatchObject({ status: "partial", ingested_spans: 2, error_count: 3 });
    expect((bodyOf(answer)["errors"] as Row[]).map((error) => error["index"])).toEqual([1, 2, 3]);
    expect(sortedValues(await storedBy(prod), "span_unique_id")).toEqual(["a", "c"]);
  });

  test("that are all invalid are 400, each with its reason", async () => {
    const answer = await app.prod.post(path, { data: ["x", span("a", { prompt_tokens: -1 })] });
    expect(answer.status).toBe(400);
    expect(bodyOf(answer)).toMatchObject({
      code: "invalid_request",
      errors: [
        { index: 0, error: expect.any(String) },
        { index: 1, error: expect.stringContaining("prompt_tokens") },
      ],
    });
  });

  test("sent again are one span", async () => {
    const { prod } = await app.newOrganization();
    for (let n = 0; n < 3; n += 1) await prod.post(path, [span("a", { input: "x" })]);
    expect(await storedBy(prod)).toHaveLength(1);
  });

  test("are read as exporters send them", async () => {
    const { prod } = await app.newOrganization();
    const exported = {
      ...span("root"),
      start_time: "2026-02-03T04:05:04.500Z",
      latency: 0,
      environment: "prod",
      is_test: false,
      model: "",
      customer_email: "",
      customer_name: "",
      error_message: "",
      span_parent_id: "",
      thread_identifier: "",
      tools: [],
      log_type: "agent",
      field_name: "data: ",
      delimiter: "\n\n",
      disable_fallback: false,
      span_path: "a.b",
    };
    expect((await prod.post(path, [exported])).status).toBe(200);
    const [row] = await storedBy(prod);
    expect(row).toMatchObject({
      span_unique_id: "root",
      span_parent_id: null,
      model: null,
      customer_email: null,
      thread_identifier: null,
      error_message: null,
      environment: "prod",
      latency: 1.5,
    });
  });

  test("have the environment of the key, whatever they state", async () => {
    const { test: testKey } = await app.newOrganization();
    await testKey.post(path, [span("a", { environment: "prod", is_test: false })]);
    expect((await storedBy(testKey)).map((row) => row["environment"])).toEqual(["test"]);
  });
});

test.each([path, "/api/integrations/v1/traces/ingest", "/api/openai/v1/traces/ingest", "/v1/traces/ingest"])(
  "%s accepts spans, with and without a slash",
  async (alias) => {
    for (const slash of ["", "/"]) {
      const answer = await app.prod.post(alias + slash, [span("a")]);
      expect([answer.status, bodyOf(answer)["ingested_spans"]]).toEqual([200, 1]);
    }
  },
);

test("without credentials it is 401", async () => {
  expect((await createClient(app.url).post(path, [span("a")])).status).toBe(401);
  expect((await createClient(app.url, "no_such_key_0123456789").post(path, [span("a")])).status).toBe(401);
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSpan, fieldsOf, listSpans, roundTrip, settle } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
});
afterAll(() => app.stop());

const bulkPath = "/api/request-logs/bulk/";
const good = (i: number): Row => ({ log_type: "chat", input: `good ${i}`, prompt_tokens: i });

/** Invalid JSON: numbers as serializers of other languages write them. */
const bulkText = (row: string): string =>
  `{"logs":[${[...Array.from({ length: 9 }, (_, i) => JSON.stringify(good(i))), row].join(",")}]}`;

describe("one odd row among ten affects at most itself", () => {
  test.each([
    ["null", "null"],
    ["NaN", "null"],
    ["-Infinity", "null"],
    ['"NaN"', "null"],
    ['"Infinity"', "null"],
    ['"-inf"', "null"],
    ["1e999", "null"],
    ['""', "null"],
    ["-5", "null"],
    ["0", "0"],
    ["25", "25"],
    ["25.0", "25"],
    ['"25"', "25"],
    ['"2.5e1"', "25"],
    ["-0.0", "0"],
  ])("a latency of %s is read as %s", async (sent, stored) => {
    const row = `{"log_type":"odd","span_name":${JSON.stringify(`latency ${sent}`)},"latency":${sent}}`;
    const answer = await prod.post(bulkPath, bulkText(row));
    expect(answer.json).toMatchObject({ success_count: 10, error_count: 0 });
    await settle(prod);
    const { results } = await listSpans(prod, { log_type: "odd", span_name: `latency ${sent}` });
    expect(results).toMatchObject([{ latency: JSON.parse(stored) as unknown }]);
  });

  test.each<[string, unknown]>([
    ["latency", {}],
    ["latency", [1]],
    ["latency", "fast"],
    ["latency", "1,5"],
    ["latency", "0x10"],
    ["stream", "maybe"],
    ["prompt_tokens", 1.5],
    ["prompt_messages", { role: "user" }],
    ["metadata", [["k", "v"]]],
    ["timestamp", "yesterday"],
    ["model", { name: "gpt-4o" }],
    ["customer_identifier", { length: 8e8 }],
    ["trace_unique_id", { length: 8e8 }],
    ["span_unique_id", [1, 2, 3]],
    ["svc_params", "text"],
  ])("%s of %j is refused by name, its nine neighbours are accepted", async (field, value) => {
    const logs = [...Array.from({ length: 9 }, (_, i) => good(i)), { [field]: value }];
    const answer = await prod.post(bulkPath, { logs });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      success_count: 9,
      error_count: 1,
      errors: [{ index: 9, code: "validation_failed", errors: { [field]: [expect.any(String)] } }],
    });
    const single = await prod.post("/api/request-logs/", { [field]: value });
    expect([single.status, fieldsOf(single)]).toEqual([422, [field]]);
  });

  test("rows that are not objects are refused one by one", async () => {
    const logs = [null, 1, "row", [], true, good(1), [[]], Number.NaN];
    const answer = await prod.post(bulkPath, { logs });
    expect(answer.json).toMatchObject({ success_count: 1, error_count: 7 });
  });

  test.each(["true", "false"])("the text %s is read as the boolean", async (text) => {
    expect(await roundTrip(prod, { stream: text })).toMatchObject({ stream: text === "true" });
  });

  test("null counts as absent everywhere, and nested null, empty lists and objects are kept", async () => {
    const fields = [
      "model",
      "metadata",
      "prompt_messages",
      "usage",
      "latency",
      "stream",
      "timestamp",
      "trace_unique_id",
      "svc_params",
      "tools",
    ];
    await createSpan(prod, Object.fromEntries(fields.map((field) => [field, null])));
    const metadata = { a: null, b: [], c: {}, d: [null, [null]], e: { f: null }, "": "", g: false };
    expect(await roundTrip(prod, { metadata, properties: metadata })).toMatchObject({ metadata, properties: metadata });
  });

  test.each([
    "",
    " ",
    "{",
    "[]",
    "null",
    "1",
    '"text"',
    "{}{}",
    "{'a':1}",
    '{"logs":[{}',
    "\u0000",
    "<xml/>",
    "a=b&c=d",
  ])("a body of %j is refused as a whole", async (body) => {
    for (const path of [bulkPath, "/api/request-logs/"]) {
      const answer = await prod.post(path, body);
      expect([400, 422]).toContain(answer.status);
    }
  });

  test.each<unknown>([
    { logs: {} },
    { logs: null },
    { logs: "[]" },
    { logs: { 0: {}, length: 8e8 } },
    { spans: [] },
    [{}],
    { logs: [] },
  ])("an envelope of %j is refused", async (body) => {
    expect((await prod.post(bulkPath, body)).status).toBe(400);
  });
});

describe("hostile keys", () => {
  const keys = [
    "__proto__",
    "__proto__.polluted",
    "constructor",
    "constructor.prototype.x",
    "prototype",
    "toString",
    "valueOf",
    "hasOwnProperty",
    "toJSON",
    "then",
    "length",
    "gen_ai.prompt.9999999.content",
    "gen_ai.prompt.-1.role",
    "gen_ai.prompt.0.__proto__.a",
    "a.b",
    "a__b",
    " ",
    "%00",
    "$ne",
    "' OR 1=1 --",
    "0",
    "-1",
    "1e3",
  ];

  /** Written by hand: an object literal would set the prototype. */
  const objectOf = (value: string): string => `{${keys.map((key) => `${JSON.stringify(key)}:${value}`).join(",")}}`;

  test("in metadata they are stored as sent, at every level, and change nothing else", async () => {
    const tree = objectOf(objectOf('{"polluted":true}'));
    const created = await createSpan(
      prod,
      `{"metadata":${tree},"properties":${tree},"variables":${tree},"tools":[${tree}]}`,
    );
    await settle(prod);
    const { text } = await prod.get(`/api/request-logs/${String(created["unique_id"])}/`);
    const document = JSON.parse(tree) as Row;
    const stored = JSON.stringify(document);
    // At the top level of metadata, a leading _ reserves a key.
    const shown = JSON.stringify(Object.fromEntries(Object.entries(document).filter(([key]) => !key.startsWith("_"))));
    expect(text.includes(`"metadata":${shown}`)).toBe(true);
    for (const field of ["properties", "variables"])
      expect([field, text.includes(`"${field}":${stored}`)]).toEqual([field, true]);
    expect(({} as Row)["polluted"]).toBeUndefined();
    expect(await roundTrip(prod, { input: "after" })).toMatchObject({ input: "after", metadata: {}, properties: {} });
  });

  test("at the top of a span, of its parameters and of a request they change nothing", async () => {
    const tree = objectOf('{"model":"polluted","cost":1,"polluted":true}');
    const row = `${tree.slice(0, -1)},"log_type":"chat","svc_params":${tree},"respan_params":${tree},"usage":${tree},"customer_params":${tree}}`;
    const answer = await prod.post(
      bulkPath,
      `{"logs":[${row},{}],"__proto__":{"logs":[]},"constructor":{"prototype":{"polluted":1}}}`,
    );
    expect(answer.json).toMatchObject({ success_count: 2 });
    const span = await roundTrip(prod, row);
    expect(span).toMatchObject({ model: null, cost: null, log_type: "chat" });
    expect(await roundTrip(prod, {})).toMatchObject({ model: null, cost: null, log_type: "text" });
    expect(({} as Row)["polluted"]).toBeUndefined();
  });

  test.each(keys)("filtering, sorting and choosing fields by %j succeeds or is refused", async (key) => {
    const name = encodeURIComponent(key);
    for (const answer of await Promise.all([
      prod.post("/api/request-logs/list/", `{"filters":{${JSON.stringify(key)}:{"operator":"","value":["x"]}}}`),
      prod.post("/api/request-logs/list/", `{"filters":{"model":{"operator":${JSON.stringify(key)},"value":["x"]}}}`),
      prod.post("/api/request-logs/list/", `{"filters":{${JSON.stringify(`metadata__${key}`)}:{"value":["x"]}}}`),
      prod.post(`/api/request-logs/list/?sort_by=${name}&include_fields=${name}`, {}),
      prod.post(`/api/request-logs/list/?include_fields=${name}`, {}),
      prod.post(`/api/request-logs/groups/?group_by=${name}`, {}),
      prod.post(`/api/request-logs/groups/?group_by=model&sort_by=${name}`, {}),
      prod.get(`/api/request-logs/list/?${name}=x`),
      prod.get(`/api/request-logs/list/?${name}[value]=x&${name}[operator]=contains`),
      prod.get(`/api/request-logs/${name}/`),
    ])) {
      expect([200, 400, 404]).toContain(answer.status);
    }
  });

  test("a hundred thousand distinct keys are kept; those of one span do not slow the next", async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, i) => [`gen_ai.prompt.${i * 7919}.content`, i]),
    );
    expect(await roundTrip(prod, { metadata })).toMatchObject({ metadata });
    const began = performance.now();
    for (let i = 0; i < 20; i += 1) await createSpan(prod, { metadata: { i } });
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";
import {
  always,
  bodyOf,
  createSpan,
  fieldsOf,
  listSpans,
  retrieveSpan,
  roundTrip,
  storeSpans,
  sortedValues,
} from "../support/spans.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
});
afterAll(() => app.stop());

describe.concurrent("round trip", () => {
  test.each<[name: string, metadata: Row]>([
    [
      "JSON types",
      { text: "1", number: 1, float: 1.5, yes: true, no: false, nothing: null, empty: "", list: [1, "a", null] },
    ],
    ["nesting", { a: { b: { c: [{ d: {} }] } } }],
    [
      "key spelling",
      { "a.b": 1, a__b: 2, a: { b: 3 }, "with space": 4, "quote'\"`": 5, "%_\\": 6, ключ: 7, "🙂": 8, "": 9 },
    ],
    ["keys that JavaScript knows", { constructor: 2, toString: { prototype: 3 }, hasOwnProperty: "x" }],
    ["text that looks like JSON", { json: '{"a":1}', date: "2026-01-01", number: "007" }],
    ["text of any script", { text: "naïve 日本語 🙂 \u2028 tab\t newline\n" }],
    ["numbers of every size", { small: 1e-300, large: 1e300, negative: -0.1, zero: 0 }],
  ])("%s come back as sent", async (_name, metadata) => {
    expect((await roundTrip(prod, { metadata }))["metadata"]).toEqual(metadata);
  });

  test("a key with NUL is found by exactly that key, in a body as in a URL", async () => {
    const value = randomUUID();
    await roundTrip(prod, { metadata: { "a\0b": value } });
    const inBody = await listSpans(prod, { "metadata__a\0b": value });
    const inUrl = await listSpans(prod, {}, `${encodeURIComponent("metadata__a\0b")}=${value}`);
    const bare = await listSpans(prod, {}, `${encodeURIComponent("a\0b")}=${value}`);
    expect([inBody.count, inUrl.count, bare.count]).toEqual([1, 1, 1]);
  });

  test("__proto__ is an ordinary key", async () => {
    const created = await prod.post("/api/request-logs/", '{"metadata":{"a":{"__proto__":{"polluted":1}},"b":2}}');
    const { unique_id } = bodyOf(created);
    await retrieveSpan(prod, unique_id);
    const { text } = await prod.get(`/api/request-logs/${String(unique_id)}/`);
    expect(text).toContain('"metadata":{"a":{"__proto__":{"polluted":1}},"b":2}');
    expect("polluted" in {}).toBe(false);
  });

  test("digits beyond 2^53 are kept", async () => {
    const sent = '{"id":12345678901234567890,"nested":{"ids":[9007199254740993,-9007199254740995]}}';
    const created = await prod.post("/api/request-logs/", `{"metadata":${sent},"properties":${sent}}`);
    const { unique_id } = bodyOf(created);
    await retrieveSpan(prod, unique_id);
    const { text } = await prod.get(`/api/request-logs/${String(unique_id)}/`);
    expect(text).toContain(`"metadata":${sent}`);
    expect(text).toContain(`"properties":${sent}`);
    const listed = await prod.post(`/api/request-logs/list/?${always}`, { filters: { unique_id: [unique_id] } });
    expect(listed.text).toContain(`"metadata":${sent}`);
    expect((await listSpans(prod, { metadata__id: ["12345678901234567890"] })).count).toBe(1);
    expect((await listSpans(prod, { metadata__id: ["12345678901234567891"] })).count).toBe(0);
  });
});

describe("keys that start with _", () => {
  const metadata = { _secret: "s3cr3t-value", _nested: { a: "s3cr3t-value" }, shown: "yes" };
  let uniqueId: unknown;
  beforeAll(async () => {
    uniqueId = (await createSpan(prod, { metadata, custom_identifier: "reserved" }))["unique_id"];
    await retrieveSpan(prod, uniqueId);
  });

  test("are accepted and in no response", async () => {
    const answers = [
      await prod.get(`/api/request-logs/${String(uniqueId)}/`),
      await prod.get(`/api/request-logs/list/?${always}&custom_identifier=reserved`),
      await prod.get(`/api/request-logs/list/?${always}&custom_identifier=reserved&include_fields=metadata`),
      await prod.get(`/api/request-logs/list/?${always}&custom_identifier=reserved&include_fields=metadata_reserved`),
      await prod.get(`/api/request-logs/list/?${always}&custom_identifier=reserved&fetch_filters=true`),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 200, text: expect.stringContaining(String(uniqueId)) });
      expect(answer.text).not.toContain("s3cr3t-value");
    }
    expect(bodyOf(answers[0]!)["metadata"]).toEqual({ shown: "yes" });
  });

  test.each([
    ["metadata___secret", { operator: "", value: ["s3cr3t-value"] }],
    ["metadata___secret", { operator: "startswith", value: ["s"] }],
    ["metadata___nested__a", { operator: "isnull", value: [false] }],
    ["metadata_reserved", { operator: "contains", value: ["s3cr3t"] }],
  ])("cannot be guessed through the filter %s %j", async (field, condition) => {
    const answer = await prod.post(`/api/request-logs/list/?${always}`, { filters: { [field]: condition } });
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([field]);
  });

  test("cannot be guessed through the filter on all metadata, or on all text", async () => {
    for (const field of ["metadata", "properties", "messages", "input", "output"]) {
      expect((await listSpans(prod, { [field]: { operator: "contains", value: ["s3cr3t"] } })).count).toBe(0);
    }
    expect((await prod.get(`/api/request-logs/list/?${always}&_secret=s3cr3t-value`)).status).toBe(400);
  });
});

describe("filtering", () => {
  beforeAll(() =>
    storeSpans(prod, [
      { span_name: "nested", metadata: { a: { b: "x" } } },
      { span_name: "dotted", metadata: { "a.b": "x" } },
      { span_name: "underscored", metadata: { a__b: "x" } },
      { span_name: "nine", metadata: { n: 9 } },
      { span_name: "text ten", metadata: { n: "10" } },
      { span_name: "eleven", metadata: { n: 11.0 } },
      { span_name: "word", metadata: { n: "many" } },
      { span_name: "true", metadata: { flag: true } },
      { span_name: "false", metadata: { flag: false } },
      { span_name: "null", metadata: { flag: null } },
      { span_name: "quoted", metadata: { "it's 100%_\"": "a'b\\c%_" } },
      { span_name: "listed", metadata: { tags: ["red", "green"] } },
      { span_name: "empty", metadata: { blank: "" } },
    ]),
  );

  const names = async (filters: unknown) =>
    sortedValues((await listSpans(prod, filters, "page_size=1000")).results, "span_name");

  test.each<[field: string, condition: unknown, found: string[]]>([
    ["metadata__a__b", ["x"], ["nested", "underscored"]],
    ["metadata__a.b", ["x"], ["dotted"]],
    ["metadata__n", { operator: "", value: [9] }, ["nine"]],
    ["metadata__n", { operator: "", value: ["9"] }, ["nine"]],
    ["metadata__n", { operator: "gt", value: [9] }, ["eleven", "text ten"]],
    ["metadata__n", { operator: "lt", value: ["10"] }, ["nine"]],
    ["metadata__n", { operator: "gte", value: [10] }, ["eleven", "text ten"]],
    ["metadata__n", { operator: "in", value: [9, "many"] }, ["nine", "word"]],
    ["metadata__flag", { operator: "", value: [true] }, ["true"]],
    ["metadata__flag", { operator: "", value: ["false"] }, ["false"]],
    ["metadata__flag", { operator: "isnull", value: [false] }, ["false", "true"]],
    ["metadata__it's 100%_\"", { operator: "", value: ["a'b\\c%_"] }, ["quoted"]],
    ["metadata__it's 100%_\"", { operator: "contains", value: ["%_"] }, ["quoted"]],
    ["metadata__it's 100%_\"", { operator: "contains", value: ["b_c"] }, []],
    ["metadata__tags", { operator: "contains", value: ["green"] }, ["listed"]],
    ["metadata__blank", { operator: "", value: [""] }, ["empty"]],
    ["metadata__blank", { operator: "isnull", value: [false] }, ["empty"]],
    ["metadata__never", { operator: "", value: ["x"] }, []],
  ])("%s %j finds %j", async (field, condition, found) => {
    expect(await names({ [field]: condition })).toEqual(found);
  });
});

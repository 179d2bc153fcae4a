import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";
import { always, bodyOf, createSpan, fieldsOf, listSpans, settle, storeSpans, sortedValues } from "../support/spans.ts";

let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
const path = "/api/request-logs/list/";

/** Five spans whose figures all differ, each figure in another order; the last has only a time. */
const figures: Row[] = [
  { span_name: "a", timestamp: "2026-01-01T00:00:01Z", cost: 3, latency: 1, time_to_first_token: 0.2 },
  { span_name: "b", timestamp: "2026-01-01T00:00:04Z", cost: 1, latency: 4, time_to_first_token: 0.1 },
  { span_name: "c", timestamp: "2026-01-01T00:00:03Z", cost: 4, latency: 2, time_to_first_token: 0.4 },
  { span_name: "d", timestamp: "2026-01-01T00:00:02Z", cost: 2, latency: 3, time_to_first_token: 0.3 },
  { span_name: "e", timestamp: "2026-01-01T00:00:05Z" },
];
const tokens = [
  { prompt_tokens: 10, completion_tokens: 4, tokens_per_second: 7, status_code: 201, model: "m2" },
  { prompt_tokens: 40, completion_tokens: 3, tokens_per_second: 5, status_code: 204, model: "m1" },
  { prompt_tokens: 20, completion_tokens: 1, tokens_per_second: 8, status_code: 203, model: "m4" },
  { prompt_tokens: 30, completion_tokens: 2, tokens_per_second: 6, status_code: 202, model: "m3" },
  { log_type: "tool", status_code: 205, model: "m5" },
];

beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey } = await app.newOrganization());
  await storeSpans(
    prod,
    figures.map((span, n) => Object.assign({ group_identifier: "figures" }, span, tokens[n])),
  );
  await storeSpans(testKey, [
    { span_name: "chat of test", log_type: "chat", group_identifier: "types" },
    { span_name: "text of test", group_identifier: "types" },
  ]);
  await storeSpans(prod, [{ span_name: "response of prod", log_type: "response", group_identifier: "types" }]);
});
afterAll(() => app.stop());

const group = (name: string) => ({ group_identifier: { operator: "", value: [name] } });
const names = ({ results }: ListAnswer) => results.map((row) => row["span_name"]);

describe("the answer", () => {
  const members = (
    "unique_id id status failed log_type input output prompt_messages completion_message prompt_tokens completion_tokens " +
    "total_request_tokens cost latency time_to_first_token tokens_per_second routing_time model provider_id tools " +
    "tool_calls timestamp start_time metadata customer_identifier customer_email thread_identifier custom_identifier " +
    "trace_unique_id span_unique_id span_parent_id span_name span_workflow_name environment stream status_code scores " +
    "organization_id error_message"
  ).split(" ");

  test("is a page of rows", async () => {
    const answer = await prod.post(`${path}?${always}`, { filters: group("figures") });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ count: 5, next: null, previous: null, results: expect.any(Array) });
    expect(Object.keys(bodyOf(answer)).sort()).toEqual([
      "count",
      "environment",
      "next",
      "previous",
      "results",
      "window",
    ]);
  });

  test.each(members)("rows have %s", async (member) => {
    const { results } = await listSpans(prod, group("figures"), "page_size=1");
    expect(results[0]).toHaveProperty(member);
  });

  test("input and output are text, also of messages", async () => {
    const prompt_messages = [{ role: "user", content: "Hi" }];
    const completion_message = { role: "assistant", content: "Hello" };
    await storeSpans(prod, [{ prompt_messages, completion_message, group_identifier: "text" }]);
    expect((await listSpans(prod, group("text"))).results).toMatchObject([
      {
        prompt_messages,
        completion_message,
        input: JSON.stringify(prompt_messages),
        output: JSON.stringify(completion_message),
      },
    ]);
  });

  test("fetch_filters adds the fields to filter by and the filters in force", async () => {
    const answer = await prod.post(`${path}?${always}&fetch_filters=true`, { filters: group("figures") });
    expect(bodyOf(answer)["current_filters"]).toEqual(group("figures"));
    expect(bodyOf(answer)["filters_data"]).toMatchObject({ cost: { operator_choices: expect.any(Array) } });
  });
});

describe("include_fields", () => {
  const rowWith = async (fields: string) =>
    (await listSpans(prod, group("figures"), `include_fields=${fields}&sort_by=timestamp&page_size=1`)).results[0];

  test("reduces rows to the named fields and those that identify rows", async () => {
    const row = await rowWith("span_name,cost");
    expect(row).toMatchObject({ span_name: "a", cost: 3 });
    expect(Object.keys(row ?? {}).sort()).toEqual(["cost", "environment", "id", "span_name", "timestamp", "unique_id"]);
  });

  test("accepts other fields of spans, blanks around names, and unknown names", async () => {
    expect(await rowWith("full_request,%20category%20,no_such_field,__proto__")).toMatchObject({
      full_request: null,
      category: null,
      no_such_field: null,
    });
  });

  test("works on GET", async () => {
    const answer = await prod.get(`${path}?${always}&group_identifier=figures&include_fields=model`);
    expect((answer.json as ListAnswer).results[0]).not.toHaveProperty("cost");
  });
});

describe("sort_by", () => {
  test.each<[field: string, ascending: string]>([
    ["timestamp", "adcbe"],
    ["cost", "bdace"],
    ["latency", "acdbe"],
    ["time_to_first_token", "badce"],
    ["prompt_tokens", "acdbe"],
    ["completion_tokens", "cdbae"],
    ["total_tokens", "acdbe"],
    ["all_tokens", "acdbe"],
    ["total_request_tokens", "acdbe"],
    ["tokens_per_second", "bdace"],
    ["status_code", "adcbe"],
    ["model", "badce"],
  ])("%s sorts in both directions, rows without a value last", async (field, ascending) => {
    const hasAll = ["timestamp", "status_code", "model"].includes(field);
    const sorted = async (sortBy: string) =>
      names(await listSpans(prod, group("figures"), `sort_by=${sortBy}`)).join("");
    expect(await sorted(field)).toBe(ascending);
    const known = ascending.slice(0, hasAll ? 5 : 4);
    expect(await sorted(`-${field}`)).toBe(known.split("").reverse().join("") + ascending.slice(known.length));
  });

  test("error_count has errors of any kind at one end", async () => {
    const of = (name: string, more: Row) => ({ span_name: name, group_identifier: "errors", ...more });
    await storeSpans(prod, [of("a", {}), of("B", { status: "error" }), of("c", {}), of("D", { status_code: 429 })]);
    const isError = async (sortBy: string) =>
      names(await listSpans(prod, group("errors"), `sort_by=${sortBy}`)).map((name) => name === "B" || name === "D");
    expect(await isError("error_count")).toEqual([false, false, true, true]);
    expect(await isError("-error_count")).toEqual([true, true, false, false]);
  });

  test("id sorts by the id as text", async () => {
    const ids = async (sortBy: string) =>
      (await listSpans(prod, group("figures"), `sort_by=${sortBy}`)).results.map((row) => String(row["id"]));
    const ascending = await ids("id");
    expect(ascending).toEqual(ascending.toSorted());
    expect(await ids("-id")).toEqual(ascending.toReversed());
  });

  test.each(["scores__quality", "-scores__quality", "scores__3c9d1b9e-1f0b-4f0e-9a53-3a1f9e1b8f11"])(
    "%s is accepted: spans are sortable by evaluator scores",
    async (sortBy) => {
      expect((await listSpans(prod, group("figures"), `sort_by=${sortBy}`)).count).toBe(5);
    },
  );

  test("is -timestamp by default", async () => {
    expect(names(await listSpans(prod, group("figures"))).join("")).toBe("ebcda");
    expect(names(await listSpans(prod, group("figures"), "sort_by=")).join("")).toBe("ebcda");
  });

  test.each(["no_such_field", "-", "--cost", "cost;DROP TABLE spans", "metadata_reserved", "version"])(
    "%s is 400 naming the parameter",
    async (sortBy) => {
      const answer = await prod.post(`${path}?sort_by=${encodeURIComponent(sortBy)}`);
      expect(answer.status).toBe(400);
      expect(fieldsOf(answer)).toEqual(["sort_by"]);
    },
  );

  test("nanoseconds count", async () => {
    const at = (ns: string) => ({
      timestamp: `2026-01-01T00:00:00.123456${ns}Z`,
      span_name: ns,
      group_identifier: "ns",
    });
    await storeSpans(prod, [at("789"), at("001"), at("790")]);
    const listed = await listSpans(prod, group("ns"), "sort_by=timestamp");
    expect(names(listed)).toEqual(["001", "789", "790"]);
  });
});

describe("paging", () => {
  test("53 spans of one instant are each on exactly one page", async () => {
    const timestamp = "2026-02-02T02:02:02Z";
    await storeSpans(
      prod,
      Array.from({ length: 53 }, (_, n) => ({ timestamp, span_name: `${n}`, group_identifier: "ties" })),
    );
    for (const sortBy of ["-timestamp", "timestamp", "-cost", "model"]) {
      const seen: unknown[] = [];
      for (let page = 1; page <= 6; page += 1) {
        const answer = await listSpans(prod, group("ties"), `sort_by=${sortBy}&page=${page}&page_size=10`);
        expect(answer.count).toBe(53);
        seen.push(...names(answer));
      }
      expect(seen).toHaveLength(53);
      expect(new Set(seen).size).toBe(53);
    }
  });
});

describe("log_type", () => {
  const withTypes = async (query: string) =>
    sortedValues((await listSpans(prod, group("types"), query)).results, "span_name");
  test.each<[query: string, expected: string[]]>([
    ["log_type=chat", ["chat of test"]],
    ["log_type=text", ["text of test"]],
    ["log_type=response", ["response of prod"]],
    ["log_type=chat,response", ["chat of test", "response of prod"]],
    ["log_type=", ["chat of test", "response of prod", "text of test"]],
    ["log_type=embedding", []],
  ])("%s lists %j", async (query, expected) => {
    expect(await withTypes(query)).toEqual(expected);
  });

  test("if omitted, lists every type, legacy text too", async () => {
    expect(await withTypes("")).toContain("text of test");
  });
});

describe("environment", () => {
  test.each<[query: string, expected: string[]]>([
    ["", ["chat of test", "response of prod", "text of test"]],
    ["environment=all", ["chat of test", "response of prod", "text of test"]],
    ["environment=prod", ["response of prod"]],
    ["environment=test", ["chat of test", "text of test"]],
    ["is_test=true", ["chat of test", "text of test"]],
    ["is_test=false", ["response of prod"]],
    ["is_test=true&all_envs=true", ["chat of test", "response of prod", "text of test"]],
  ])("%s is the same for a prod and a test key", async (query, expected) => {
    for (const client of [prod, testKey]) {
      const { results } = await listSpans(client, group("types"), query);
      expect(sortedValues(results, "span_name")).toEqual(expected);
    }
  });
});

test("a span is listed within a second of its acceptance, in the default window", async () => {
  await createSpan(prod, { group_identifier: "fresh" });
  await settle(prod);
  const answer = await prod.post(path, { filters: group("fresh") });
  expect((answer.json as ListAnswer).count).toBe(1);
});

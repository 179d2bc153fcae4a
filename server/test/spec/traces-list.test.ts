import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { always, bodyOf, fieldsOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "../support/test-client.ts";
import { ingest, listTraces, nodeMembers, retrieveTrace, second, traceMembers, traceSpan } from "../support/traces.ts";

let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
let organizationId: string;

const chat = { log_type: "chat", model: "own-model" };

beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey, unique_organization_id: organizationId } = await app.newOrganization());
  await ingest(
    prod,
    // Children first, as exporters send them.
    [
      traceSpan("one", "call", "root", 1, {
        ...chat,
        prompt_tokens: 10,
        completion_tokens: 5,
        cost: 0.5,
        metadata: { plan: "gold", seats: 7 },
        customer_identifier: "of a child",
        thread_identifier: "thread-one",
      }),
      traceSpan("one", "tool", "call", 2, { log_type: "tool", status: "error", error_message: "no" }),
    ],
    [
      traceSpan("one", "root", null, 0, {
        timestamp: second(10),
        log_type: "agent",
        span_name: "Agent one",
        span_workflow_name: "support",
        input: "question one",
        output: "answer one",
        metadata: { release: "r1", _secret: "s" },
      }),
    ],
    [
      traceSpan("two", "only", null, 20, { ...chat, prompt_tokens: 100, completion_tokens: 100, cost: 2 }),
      traceSpan("three", "root", null, 30, {
        timestamp: second(31),
        customer_identifier: "Anna",
        span_workflow_name: "booking",
      }),
      traceSpan("three", "a", "root", 30, { ...chat, prompt_tokens: 1, completion_tokens: 1 }),
      traceSpan("three", "b", "root", 30, { ...chat, prompt_tokens: 1, completion_tokens: 1, status_code: 500 }),
      traceSpan("three", "c", "root", 30, { ...chat, prompt_tokens: 1, completion_tokens: 1, status_code: 404 }),
    ],
  );
  await ingest(testKey, [traceSpan("one", "root", null, 40, { span_name: "of the test key", cost: 9 })]);
});
afterAll(() => app.stop());

const ids = ({ results }: ListAnswer) => results.map((row) => row["trace_unique_id"]);
const inProd = `${always}&environment=prod`;
const find = async (filters: unknown, query = inProd) => ids(await listTraces(prod, filters, query));

describe("a row", () => {
  test("has the figures of all spans, and the root's name, input, output and metadata", async () => {
    const { results } = await listTraces(prod, { trace_unique_id: "one" }, inProd);
    expect(results).toEqual([
      expect.objectContaining({
        id: "one",
        trace_unique_id: "one",
        root_span_unique_id: "root",
        unique_organization_id: organizationId,
        organization_id: organizationId,
        organization_name: "Another organization",
        environment: "prod",
        name: "Agent one",
        workflow_name: "support",
        input: "question one",
        output: "answer one",
        metadata: { release: "r1" },
        start_time: second(0),
        end_time: second(10),
        timestamp: second(10),
        duration: 10,
        span_count: 3,
        llm_call_count: 1,
        error_count: 1,
        total_cost: 0.5,
        total_tokens: 15,
        total_prompt_tokens: 10,
        total_completion_tokens: 5,
        unpriced_count: 0,
      }),
    ]);
  });

  test("has every member that clients know, and so has each node of its tree", async () => {
    const { prod: own } = await app.newOrganization();
    const links = [{ trace_id: "t2", span_id: "s2" }];
    await ingest(own, [traceSpan("t", "root", null, 0, { span_links: links })]);
    const [row] = (await listTraces(own)).results;
    const [node] = (await retrieveTrace(own, "t")).span_tree;
    for (const member of traceMembers) expect(row).toHaveProperty(member);
    for (const member of nodeMembers) expect(node).toHaveProperty(member);
    // Text, like input and output.
    expect(node?.["span_links"]).toBe(JSON.stringify(links));
  });

  test("has customer and thread of the root, otherwise of the earliest span that has one", async () => {
    const { results } = await listTraces(prod, {}, inProd);
    expect(
      results.map((row) => [row["trace_unique_id"], row["customer_identifier"], row["thread_identifier"]]),
    ).toEqual([
      ["three", "Anna", null],
      ["two", null, null],
      ["one", "of a child", "thread-one"],
    ]);
  });

  test("states the number of model calls without a known cost, which sums skip", async () => {
    const [row] = (await listTraces(prod, { trace_unique_id: "three" })).results;
    expect(row).toMatchObject({ total_cost: 0, unpriced_count: 3, llm_call_count: 3, total_tokens: 6 });
  });
});

describe("the page", () => {
  test("is one of traces, newest first, with its links", async () => {
    const first = await listTraces(prod, {}, `${inProd}&page_size=2`);
    expect([first.count, ids(first), first.previous]).toEqual([3, ["three", "two"], null]);
    const next = await prod.post(first.next ?? "");
    expect(ids(next.json as ListAnswer)).toEqual(["one"]);
    expect(await listTraces(prod, {}, `${inProd}&page=9`)).toMatchObject({ count: 3, results: [], next: null });
  });

  test.each(["page=0", "page_size=1001", "sort_by=cost", "start_time=x", "environment=dev"])(
    "%s is 400 naming the parameter",
    async (query) => {
      const answer = await prod.post(`/api/traces/list/?${query}`, {});
      expect(answer.status).toBe(400);
      expect(fieldsOf(answer)).toEqual([query.split("=")[0]]);
    },
  );

  test("is the same on GET", async () => {
    const got = await prod.get(`/api/traces/list/?${inProd}`);
    expect(got.json).toEqual(await listTraces(prod, {}, inProd));
    const filtered = await prod.get(`/api/traces/list/?${inProd}&customer_identifier=Anna`);
    expect(ids(filtered.json as ListAnswer)).toEqual(["three"]);
  });

  test("with fetch_filters lists the available filters", async () => {
    const answer = bodyOf(await prod.post(`/api/traces/list/?${inProd}&fetch_filters=true`, {}));
    expect(answer["filters_data"]).toMatchObject({ total_cost: { value_field_type: "number" } });
  });

  test("without credentials is 401", async () => {
    expect((await createClient(app.url).post("/api/traces/list/", {})).status).toBe(401);
  });
});

describe("sort_by", () => {
  test.each<[field: string, ascending: string[]]>([
    ["timestamp", ["one", "two", "three"]],
    ["start_time", ["one", "two", "three"]],
    ["end_time", ["one", "two", "three"]],
    ["duration", ["three", "two", "one"]],
    ["total_cost", ["three", "one", "two"]],
    ["total_tokens", ["three", "one", "two"]],
    ["total_prompt_tokens", ["three", "one", "two"]],
    ["total_completion_tokens", ["three", "one", "two"]],
    ["span_count", ["two", "one", "three"]],
    ["llm_call_count", ["one", "two", "three"]],
    ["error_count", ["two", "one", "three"]],
  ])("%s sorts both ways", async (field, expected) => {
    const up = await listTraces(prod, {}, `${inProd}&sort_by=${field}`);
    const down = await listTraces(prod, {}, `${inProd}&sort_by=-${field}`);
    const values = (answer: ListAnswer) => answer.results.map((row) => row[field]);
    expect(ids(down)).toEqual(ids(up).toReversed());
    expect(values(down)).toEqual(values(up).toReversed());
    // Equal values may be in either order.
    expect(new Set(ids(up))).toEqual(new Set(expected));
    expect(values(up)).toEqual(expected.map((id) => up.results.find((row) => row["trace_unique_id"] === id)?.[field]));
  });
});

describe("filters", () => {
  test.each<[name: string, filters: Row, found: string[]]>([
    ["trace_unique_id", { trace_unique_id: { operator: "in", value: ["one", "two", "nine"] } }, ["two", "one"]],
    ["customer_identifier", { customer_identifier: { operator: "iexact", value: ["anna"] } }, ["three"]],
    ["customer_identifier of a child", { customer_identifier: ["of a child"] }, ["one"]],
    ["no customer", { customer_identifier: { operator: "isnull", value: [true] } }, ["two"]],
    ["environment", { environment: ["prod"] }, ["three", "two", "one"]],
    ["span_count", { span_count: { operator: "gte", value: [3] } }, ["three", "one"]],
    ["llm_call_count", { llm_call_count: [1] }, ["two", "one"]],
    ["error_count", { error_count: { operator: "gt", value: [0] } }, ["three", "one"]],
    ["total_cost", { total_cost: { operator: "gt", value: [0.5] } }, ["two"]],
    [
      "total_tokens",
      {
        total_tokens: [
          { operator: "gt", value: [6] },
          { operator: "lt", value: [200] },
        ],
      },
      ["one"],
    ],
    ["total_prompt_tokens", { total_prompt_tokens: ["100"] }, ["two"]],
    ["total_completion_tokens", { total_completion_tokens: { operator: "lte", value: [5] } }, ["three", "one"]],
    ["duration", { duration: { operator: "gt", value: [9.5] } }, ["one"]],
    ["workflow_name", { workflow_name: { operator: "startswith", value: ["book"] } }, ["three"]],
    ["metadata of the root", { metadata__release: ["r1"] }, ["one"]],
    ["metadata of another span, as a number", { metadata__seats: { operator: "gt", value: [6.5] } }, ["one"]],
    ["a field of spans: any of them", { status_code: [404] }, ["three"]],
    ["log_type", { log_type: ["tool"] }, ["one"]],
    ["no span of a type", { log_type: { operator: "not", value: ["chat"] } }, []],
    ["metadata that no span has", { metadata__seats: { operator: "isnull", value: [true] } }, ["three", "two"]],
    ["metadata that some span has", { metadata__seats: { operator: "isnull", value: [false] } }, ["one"]],
    ["an error_message that no span has", { error_message: { operator: "empty" } }, ["three", "two"]],
    ["no span that failed", { failed: { operator: "not", value: [true] } }, ["two"]],
    ["two fields of different spans", { log_type: ["tool"], model: ["own-model"] }, ["one"]],
    ["either of two", { total_cost: [2], customer_identifier: { value: ["Anna"], connector: "OR" } }, ["three", "two"]],
    ["name", { name: { operator: "contains", value: ["Agent"] } }, ["one"]],
    ["error_message", { error_message: { operator: "icontains", value: ["NO"] } }, ["one"]],
  ])("by %s", async (_name, filters, found) => {
    expect(await find(filters)).toEqual(found);
  });

  test("of unknown fields and operators are 400 naming them", async () => {
    for (const filters of [
      { trace_idd: ["x"] },
      { total_cost: { operator: "near", value: [1] } },
      { match_0: [true] },
    ]) {
      const answer = await prod.post(`/api/traces/list/?${always}`, { filters });
      expect([answer.status, fieldsOf(answer)]).toEqual([400, Object.keys(filters)]);
    }
  });

  test("treat hostile text as text", async () => {
    for (const value of ["' OR 1=1 --", "{x:String}", "%", "\\", "\u0000"]) {
      expect(await find({ customer_identifier: [value] })).toEqual([]);
      expect(await find({ [`metadata__${value}`]: [value] })).toEqual([]);
    }
  });
});

describe("the window", () => {
  const window = (from: number, to: number) => `environment=prod&start_time=${second(from)}&end_time=${second(to)}`;

  test("is the last hour by default, ending now", async () => {
    const { prod: own } = await app.newOrganization();
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    await ingest(own, [
      { ...traceSpan("new", "a", null), start_time: ago(6), timestamp: ago(5) },
      { ...traceSpan("old", "a", null), start_time: ago(62), timestamp: ago(61) },
    ]);
    expect(ids(await listTraces(own, {}, ""))).toEqual(["new"]);
    expect(ids(await listTraces(own, {}, `end_time=${ago(30)}`))).toEqual(["old"]);
    expect(ids(await listTraces(own, {}, `start_time=${ago(120)}`))).toEqual(["new", "old"]);
  });

  test("contains a trace if one of its spans ended in it, and shows it completely", async () => {
    const whole = (await listTraces(prod, { trace_unique_id: "one" }, inProd)).results;
    // The root's end, the first child's end, and both edges.
    for (const [from, to] of [
      [9, 11],
      [1, 2],
      [2, 3],
      [10, 10],
      [2, 2],
    ] as const) {
      expect([from, to, (await listTraces(prod, {}, window(from, to))).results]).toEqual([from, to, whole]);
    }
    expect((await listTraces(prod, {}, window(4, 9))).results).toEqual([]);
  });

  test("that ends before it starts is 400", async () => {
    expect((await prod.post(`/api/traces/list/?${window(5, 1)}`, {})).status).toBe(400);
  });
});

describe("environments and organisations", () => {
  test("a trace belongs to one environment: the same id in two is two traces", async () => {
    expect(ids(await listTraces(prod))).toEqual(["one", "three", "two", "one"]);
    expect(ids(await listTraces(testKey, {}, `${always}&environment=test`))).toEqual(["one"]);
    const [row] = (await listTraces(prod, { name: "of the test key" })).results;
    expect(row).toMatchObject({ environment: "test", span_count: 1, total_cost: 9 });
  });

  test("another organisation with the same ids sees its own only", async () => {
    const other = await app.newOrganization();
    await ingest(other.prod, [traceSpan("one", "root", null, 0, { span_name: "theirs" })]);
    expect((await listTraces(other.prod)).results).toMatchObject([{ name: "theirs", span_count: 1 }]);
    expect((await listTraces(prod, {}, inProd)).count).toBe(3);
  });
});

test("spans without a trace are not listed, and a trace without a root is named by its earliest span", async () => {
  const { prod: own } = await app.newOrganization();
  await ingest(own, [
    { ...traceSpan("", "x", null), trace_unique_id: "" },
    traceSpan("t", "late", "gone", 5),
    traceSpan("t", "early", "gone", 1),
  ]);
  expect((await listTraces(own)).results).toMatchObject([{ trace_unique_id: "t", name: "early", span_count: 2 }]);
});

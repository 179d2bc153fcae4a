import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { always, bodyOf, listSpans, retrieveSpan, settle, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type Answer, type ListAnswer, type Row, type TestClient } from "../support/test-client.ts";
import { getTrace, ingest, listTraces, second, traceSpan } from "../support/traces.ts";

let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
let organizationId: string;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey, unique_organization_id: organizationId } = await app.newOrganization());
});
afterAll(() => app.stop());

let traces = 0;
const newTrace = () => `trace-${(traces += 1)}`;
const remove = (client: TestClient, id: string, query = always) =>
  client.request("DELETE", `/api/traces/${encodeURIComponent(id)}/?${query}`);
const bulk = (filters: unknown, client = prod, query = always): Promise<Answer> =>
  client.post(`/api/traces/bulk/?${query}`, { filters });
const spansOf = async (client: TestClient, id: string) =>
  (await listSpans(client, { trace_unique_id: [id] })).results
    .map((row) => row["span_unique_id"])
    .map(String)
    .sort();

async function expectDeleted(client: TestClient, id: string): Promise<void> {
  const filters = { trace_unique_id: [id] };
  expect((await getTrace(client, id)).status).toBe(404);
  expect((await listTraces(client, filters)).count).toBe(0);
  expect((await listSpans(client, filters)).count).toBe(0);
  expect(await summarize(client, filters)).toMatchObject({ number_of_requests: 0 });
  const groups = await client.post(`/api/request-logs/groups/?${always}&group_by=trace`, { filters });
  expect((groups.json as ListAnswer).count).toBe(0);
}

/** The covered window and environment that a response states for `always`. */
const covered = {
  window: { start_time: "1980-01-01T00:00:00.000Z", end_time: "2262-01-01T00:00:00.000Z" },
  environment: "prod",
};

describe("deleting one", () => {
  test("a call of a model is a trace that can be retrieved and deleted right afterwards", async () => {
    const id = newTrace();
    const call = { model: "spanway/echo", messages: [{ role: "user", content: "hi" }] };
    await prod.post("/api/chat/completions", { ...call, trace_unique_id: id });
    expect((await getTrace(prod, id)).status).toBe(200);
    const another = newTrace();
    await prod.post("/api/chat/completions", { ...call, trace_unique_id: another });
    expect((await remove(prod, another)).json).toMatchObject({ deleted_count: 1, deleted_spans: 1 });
    await expectDeleted(prod, another);
  });

  test("removes it from every read immediately, however recent it is", async () => {
    const [id, other] = [newTrace(), newTrace()];
    await ingest(prod, [traceSpan(other, "a", null)]);
    await prod.post("/api/v1/traces/ingest", [
      traceSpan(id, "a", null, 0, { thread_identifier: id }),
      traceSpan(id, "b", "a"),
    ]);
    const answer = await remove(prod, id);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      message: expect.stringContaining("2 spans"),
      deleted_count: 1,
      deleted_spans: 2,
    });
    await expectDeleted(prod, id);
    expect(
      (await prod.post(`/api/log_threads/?${always}`, { filters: { thread_identifier: [id] } })).json,
    ).toMatchObject({
      count: 0,
    });
    expect(await spansOf(prod, other)).toEqual(["a"]);
  });

  test("of a missing trace is 200 with a message and 0", async () => {
    const answer = await remove(prod, "nothing");
    expect([answer.status, answer.json]).toEqual([
      200,
      { message: expect.any(String), deleted_count: 0, deleted_spans: 0, remaining_spans: 0, ...covered },
    ]);
  });

  test("applies to the window, and states how many spans remain", async () => {
    const id = newTrace();
    await ingest(
      prod,
      [0, 10, 20, 30].map((start) => traceSpan(id, `s${start}`, null, start)),
    );
    // The default window is the last hour, in which this trace has nothing.
    expect(bodyOf(await remove(prod, id, ""))).toMatchObject({
      deleted_count: 0,
      remaining_spans: 4,
      message: expect.stringContaining("4 spans outside"),
    });
    // Both edges belong to the window.
    const window = `start_time=${second(11)}&end_time=${second(21)}`;
    expect(bodyOf(await remove(prod, id, window))).toMatchObject({
      deleted_count: 1,
      deleted_spans: 2,
      remaining_spans: 2,
      message: expect.stringContaining("2 spans outside"),
    });
    expect(await spansOf(prod, id)).toEqual(["s0", "s30"]);
    const recent = newTrace();
    await ingest(prod, [{ trace_unique_id: recent, span_unique_id: "now" }]);
    expect(bodyOf(await remove(prod, recent, ""))).toMatchObject({ deleted_spans: 1, remaining_spans: 0 });
  });

  test("K3: deletes the trace of the key's environment, and never that of the other", async () => {
    const [both, elsewhere] = [newTrace(), newTrace()];
    await ingest(prod, [traceSpan(both, "prod", null)]);
    await ingest(testKey, [traceSpan(both, "test", null), traceSpan(elsewhere, "test", null)]);
    await remove(prod, both);
    expect(await spansOf(prod, both)).toEqual(["test"]);
    expect(await remove(prod, elsewhere)).toMatchObject({ status: 403, json: { code: "forbidden" } });
    expect(await spansOf(prod, elsewhere)).toEqual(["test"]);
  });

  test("does not affect another organisation's trace of that id", async () => {
    const id = newTrace();
    const other = await app.newOrganization();
    await ingest(prod, [traceSpan(id, "ours", null)]);
    expect(bodyOf(await remove(other.prod, id))).toMatchObject({ deleted_count: 0 });
    await ingest(other.prod, [traceSpan(id, "theirs", null)]);
    await remove(prod, id);
    expect(await spansOf(other.prod, id)).toEqual(["theirs"]);
  });

  test("with an invalid window is 400, without credentials 401, without the permission 403", async () => {
    expect((await remove(prod, "x", "start_time=never")).status).toBe(400);
    expect((await remove(createClient(app.url), "x")).status).toBe(401);
    const admin = await app.login();
    const made = bodyOf(
      await admin.post("/api/api-keys/", { name: "reads", environment: "prod", permissions: ["spans:read"] }),
    );
    const reader = createClient(app.url, String(made["key"]));
    expect((await remove(reader, "x")).status).toBe(403);
    expect((await bulk({ trace_unique_id: ["x"] }, reader)).status).toBe(403);
  });
});

describe("resent spans of a deleted trace stay deleted", () => {
  const again = async (client: TestClient, spans: readonly Row[]) => {
    const answer = await client.post("/api/v1/traces/ingest", spans);
    expect([answer.status, bodyOf(answer)["ingested_spans"]]).toEqual([200, spans.length]);
    await settle(client);
  };

  test("identical, fuller, or without an end time", async () => {
    const id = newTrace();
    const dated = traceSpan(id, "a", null);
    const undated = { trace_unique_id: id, span_unique_id: "b" };
    await ingest(prod, [dated, undated]);
    expect(bodyOf(await remove(prod, id))).toMatchObject({ deleted_spans: 2 });
    await again(prod, [dated, undated]);
    await expectDeleted(prod, id);
    await again(prod, [
      { ...dated, output: "done", prompt_tokens: 5 },
      { ...undated, timestamp: second(99), output: "done" },
    ]);
    await expectDeleted(prod, id);
  });

  test("also a new span of it, if it ended within the deleted window", async () => {
    const id = newTrace();
    await ingest(prod, [traceSpan(id, "a", null, 0)]);
    await remove(prod, id, `start_time=${second(0)}&end_time=${second(10)}`);
    await again(prod, [traceSpan(id, "late", "a", 3), traceSpan(id, "new", null, 20)]);
    expect(await spansOf(prod, id)).toEqual(["new"]);
  });

  test("but not spans of another trace, environment or organisation", async () => {
    const id = newTrace();
    const other = await app.newOrganization();
    await ingest(prod, [traceSpan(id, "a", null)]);
    await remove(prod, id);
    await again(testKey, [traceSpan(id, "in test", null)]);
    await again(other.prod, [traceSpan(id, "theirs", null)]);
    expect(await spansOf(prod, id)).toEqual(["in test"]);
    expect(await spansOf(other.prod, id)).toEqual(["theirs"]);
  });
});

describe("deleting in bulk", () => {
  test.each(["/api/traces/bulk/", "/api/traces/bulk-delete/"])("%s deletes what the filter matches", async (path) => {
    const [a, b, c] = [newTrace(), newTrace(), newTrace()];
    await ingest(
      prod,
      [a, b, c].map((id) => traceSpan(id, "s", null, 0, { metadata: { run: path }, cost: id === c ? 5 : 1 })),
    );
    const filters = { metadata__run: { operator: "", value: [path] }, total_cost: { operator: "lt", value: [5] } };
    const answer = await prod.post(`${path}?${always}`, { filters });
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        ...covered,
        success_count: 2,
        deleted_count: 2,
        error_count: 0,
        errors: [],
        ignored: [],
        message: expect.any(String),
      },
    ]);
    await expectDeleted(prod, a);
    await expectDeleted(prod, b);
    expect(await spansOf(prod, c)).toEqual(["s"]);
  });

  test("accepts all fields of a trace together, combined with AND", async () => {
    const [id, other] = [newTrace(), newTrace()];
    const call = {
      log_type: "chat",
      model: "own-model",
      prompt_tokens: 5,
      completion_tokens: 6,
      cost: 0.5,
      status_code: 500,
    };
    const named = { customer_identifier: "ann", span_workflow_name: "flow", metadata: { k: "v" } };
    await ingest(prod, [traceSpan(id, "s", null, 0, { ...call, ...named }), traceSpan(other, "s", null, 0, call)]);
    const filters = {
      trace_unique_id: { operator: "in", value: [id, other] },
      customer_identifier: ["ann"],
      environment: ["prod"],
      span_count: [1],
      llm_call_count: { operator: "gte", value: [1] },
      error_count: { operator: "gt", value: [0] },
      total_cost: { operator: "lte", value: [0.5] },
      total_tokens: [11],
      total_prompt_tokens: { operator: "lt", value: [6] },
      total_completion_tokens: { operator: "not", value: [5] },
      duration: [1],
      workflow_name: { operator: "startswith", value: ["fl"] },
      metadata__k: ["v"],
      unique_organization_id: [organizationId],
      start_time: { operator: "gte", value: [second(0)] },
      end_time: { operator: "lte", value: [second(1)] },
    };
    expect((await bulk({ ...filters, end_time: { operator: "lt", value: [second(1)] } })).json).toMatchObject({
      deleted_count: 0,
      ignored: [],
    });
    expect((await bulk(filters)).json).toMatchObject({
      deleted_count: 1,
      ignored: [],
      message: "1 trace was deleted.",
    });
    await expectDeleted(prod, id);
    expect(await spansOf(prod, other)).toEqual(["s"]);
  });

  test("without a match is 200 with 0 and a message", async () => {
    const answer = await bulk({ trace_unique_id: ["nothing"] });
    expect(answer.json).toMatchObject({ success_count: 0, deleted_count: 0, message: expect.any(String) });
  });

  test("counts an id that is named twice once", async () => {
    const id = newTrace();
    await ingest(prod, [traceSpan(id, "a", null), traceSpan(id, "b", null)]);
    const answer = await bulk({ trace_unique_id: { operator: "IN", value: [id, id, id] } });
    expect(answer.json).toMatchObject({ success_count: 1, deleted_count: 1 });
  });

  test.each<[name: string, body: unknown]>([
    ["no filters", {}],
    ["null", { filters: null }],
    ["empty filters", { filters: {} }],
    ["an empty list", { filters: [] }],
    ["a text", { filters: "all" }],
    ["a mistyped field alone", { filters: { trace_idd: ["x"] } }],
    ["an unknown operator alone", { filters: { trace_unique_id: { operator: "near", value: ["x"] } } }],
    [
      "a mistyped operator, which would turn its meaning",
      { filters: { trace_unique_id: { op: "not", value: ["x"] } } },
    ],
    ["its window in the body", { filters: { span_count: { operator: "gt", value: [0] } }, end_time: second(5) }],
  ])("with %s is 400 and deletes nothing", async (_name, body) => {
    const id = newTrace();
    await ingest(prod, [traceSpan(id, "a", null)]);
    const answer = await prod.post(`/api/traces/bulk/?${always}`, body);
    expect([answer.status, bodyOf(answer)["code"]]).toEqual([400, "invalid_request"]);
    expect(await spansOf(prod, id)).toEqual(["a"]);
  });

  test("ignores unknown conditions beside a known one, and reports them", async () => {
    const [id, retained] = [newTrace(), newTrace()];
    await ingest(prod, [traceSpan(id, "a", null), traceSpan(retained, "a", null)]);
    const answer = await bulk({
      trace_unique_id: [id],
      trace_idd: ["x"],
      total_cost: { operator: "near", value: [1] },
    });
    expect(answer.json).toMatchObject({ deleted_count: 1, ignored: [{ field: "trace_idd" }, { field: "total_cost" }] });
    await expectDeleted(prod, id);
    expect(await spansOf(prod, retained)).toEqual(["a"]);
  });

  test("may name only the own organisation, which does not count as a condition", async () => {
    const id = newTrace();
    await ingest(prod, [traceSpan(id, "a", null)]);
    expect((await bulk({ unique_organization_id: [organizationId] })).status).toBe(400);
    expect((await bulk({ unique_organization_id: ["org_other"], trace_unique_id: [id] })).status).toBe(403);
    expect(await spansOf(prod, id)).toEqual(["a"]);
    const answer = await bulk({
      unique_organization_id: { operator: "", value: [organizationId] },
      trace_unique_id: [id],
    });
    expect(answer.json).toMatchObject({ deleted_count: 1 });
  });

  test("does not affect other organisations, environments and times", async () => {
    const id = newTrace();
    const other = await app.newOrganization();
    await ingest(other.prod, [traceSpan(id, "theirs", null)]);
    await ingest(prod, [traceSpan(id, "early", null, 0), traceSpan(id, "late", null, 100)]);
    await ingest(testKey, [traceSpan(id, "test", null, 0)]);
    expect((await bulk({ trace_unique_id: [id] }, prod, "")).json).toMatchObject({ deleted_count: 0 });
    const window = `environment=prod&start_time=${second(0)}&end_time=${second(5)}`;
    expect((await bulk({ trace_unique_id: [id] }, prod, window)).json).toMatchObject({ deleted_count: 1 });
    expect(await spansOf(prod, id)).toEqual(["late", "test"]);
    expect(await spansOf(other.prod, id)).toEqual(["theirs"]);
  });

  test("of 1000 traces deletes them all, of 1001 none: 422", async () => {
    const own = await app.newOrganization();
    const rows = Array.from({ length: 1001 }, (_, n) => traceSpan(`many-${n}`, "a", null, 0, { metadata: { n } }));
    await ingest(own.prod, rows);
    const all = { metadata__n: { operator: "gte", value: [0] } };
    const refused = await bulk(all, own.prod);
    expect([refused.status, bodyOf(refused)["code"]]).toEqual([422, "too_many_rows"]);
    const ids = rows.map((row) => row["trace_unique_id"]);
    const named = (value: unknown[]) => bulk({ trace_unique_id: { operator: "in", value } }, own.prod);
    expect((await named(ids)).status).toBe(422);
    expect((await listTraces(own.prod)).count).toBe(1001);
    // Repeated and missing ids do not count.
    const deleted = await named([...ids.slice(1), ids[1], "not there"]);
    expect(deleted.json).toMatchObject({ success_count: 1000, deleted_count: 1000 });
    expect((await listTraces(own.prod)).results).toMatchObject([{ trace_unique_id: "many-0" }]);
  });

  test("accepts an access token too", async () => {
    await ingest(app.prod, [traceSpan("of the first organisation", "a", null)]);
    const answer = await bulk({ trace_unique_id: ["of the first organisation"] }, await app.login());
    expect(answer.json).toMatchObject({ deleted_count: 1 });
    expect((await bulk({ trace_unique_id: ["x"] }, createClient(app.url))).status).toBe(401);
  });
});

test("a span of a deleted trace is not retrieved by its own id either", async () => {
  const id = newTrace();
  await ingest(prod, [traceSpan(id, "a", null)]);
  const [span] = (await listSpans(prod, { trace_unique_id: [id] })).results;
  await retrieveSpan(prod, span?.["unique_id"]);
  await remove(prod, id);
  expect((await prod.get(`/api/request-logs/${String(span?.["unique_id"])}/`)).status).toBe(404);
});

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";
import { bodyOf, createSpan, listSpans, retrieveSpan, settle, storeSpans, summarize } from "../support/spans.ts";

/** One span, sent more than once. Every read must show the winning version: retrieve, list, sums. */
let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey } = await app.newOrganization());
});
afterAll(() => app.stop());

const ids = () => ({ trace_unique_id: randomUUID(), span_unique_id: "span-1" });
const inTrace = (trace: unknown) => ({ trace_unique_id: { operator: "", value: [trace] } });

/** Checks that every read shows the only span of a trace, and returns it. */
async function theOneSpanOf(trace: unknown, client = prod): Promise<Row> {
  await settle(client);
  const { count, results } = await listSpans(client, inTrace(trace));
  expect(count).toBe(1);
  expect(results).toHaveLength(1);
  const span = await retrieveSpan(client, results[0]?.["unique_id"]);
  expect(span).toMatchObject(results[0] ?? {});
  expect(await summarize(client, inTrace(trace))).toMatchObject({
    number_of_requests: 1,
    total_cost: span["cost"] ?? 0,
    total_tokens: span["total_tokens"] ?? 0,
  });
  return span;
}

describe.concurrent("an identical resend", () => {
  const call = { model: "gpt-4o", input: "q", output: "a", prompt_tokens: 7, completion_tokens: 3, cost: 0.5 };
  test("is the same span under the same unique_id, and costs once", async () => {
    const body = { ...call, ...ids(), timestamp: new Date().toISOString() };
    const created = [await createSpan(prod, body), await createSpan(prod, body), await createSpan(prod, body)];
    expect(new Set(created.map((row) => row["unique_id"])).size).toBe(1);
    const span = await theOneSpanOf(body.trace_unique_id);
    expect(span).toMatchObject({ unique_id: created[0]?.["unique_id"], cost: 0.5, total_tokens: 10 });
  });

  test("without its own timestamp it is one span too", async () => {
    const body = { ...call, ...ids() };
    await createSpan(prod, body);
    await settle(prod);
    await createSpan(prod, body);
    expect(await theOneSpanOf(body.trace_unique_id)).toMatchObject({ cost: 0.5 });
  });

  test("of a whole bulk request stores nothing twice", async () => {
    const trace_unique_id = randomUUID();
    const logs = ["1", "2", "3"].map((span_unique_id) => Object.assign({ trace_unique_id, span_unique_id }, call));
    await storeSpans(prod, logs);
    await storeSpans(prod, logs);
    expect((await listSpans(prod, inTrace(trace_unique_id))).count).toBe(3);
    expect(await summarize(prod, inTrace(trace_unique_id))).toMatchObject({ total_cost: 1.5, total_tokens: 30 });
  });

  test("twice within one bulk request counts once", async () => {
    const body = { ...call, ...ids() };
    await storeSpans(prod, [body, body]);
    expect(await theOneSpanOf(body.trace_unique_id)).toMatchObject({ cost: 0.5 });
  });
});

describe.concurrent("a span that started and then completed", () => {
  const started = {
    start_time: "2026-04-01T10:00:00Z",
    timestamp: "2026-04-01T10:00:00Z",
    span_name: "run",
    input: "q",
  };
  const completed = { ...started, timestamp: "2026-04-01T10:00:03Z", output: "a", cost: 0.25, completion_tokens: 4 };
  const whole = { input: "q", output: "a", latency: 3, cost: 0.25, timestamp: "2026-04-01T10:00:03.000Z" };

  test.each([
    ["in order", [started, completed]],
    ["the end first", [completed, started]],
    ["the start again afterwards", [started, completed, started]],
  ])("is whole once both were sent, %s", async (_name, versions) => {
    const own = ids();
    for (const version of versions) await createSpan(prod, { ...version, ...own });
    expect(await theOneSpanOf(own.trace_unique_id)).toMatchObject(whole);
  });

  test.each([
    ["in order", [started, completed]],
    ["the end first", [completed, started]],
  ])("is whole also when its start was stored before, %s", async (_name, versions) => {
    const own = ids();
    for (const version of versions) await storeSpans(prod, [{ ...version, ...own }]);
    expect(await theOneSpanOf(own.trace_unique_id)).toMatchObject(whole);
  });

  test("is complete within one bulk request, in either order", async () => {
    const [first, second] = [ids(), ids()];
    await storeSpans(prod, [
      { ...started, ...first },
      { ...completed, ...first },
      { ...completed, ...second },
      { ...started, ...second },
    ]);
    for (const own of [first, second]) expect(await theOneSpanOf(own.trace_unique_id)).toMatchObject(whole);
  });
});

test("of conflicting versions the last received one wins completely", async () => {
  const own = ids();
  const outcome = { prompt_tokens: 5, completion_tokens: 5, output: "a" };
  await createSpan(prod, {
    ...own,
    ...outcome,
    model: "first",
    cost: 9,
    latency: 1,
    metadata: { first: true },
    note: "1",
  });
  await createSpan(prod, { ...own, ...outcome, model: "second", cost: 1, latency: 2, metadata: { second: true } });
  const span = await theOneSpanOf(own.trace_unique_id);
  expect(span).toMatchObject({ model: "second", cost: 1, latency: 2, metadata: { second: true }, note: null });
  expect((await listSpans(prod, { ...inTrace(own.trace_unique_id), model: ["first"] })).count).toBe(0);
});

test("the same span id in another trace, environment or organisation is another span", async () => {
  const other = await app.newOrganization();
  const own = ids();
  const elsewhere = { ...own, trace_unique_id: randomUUID() };
  const created = [
    await createSpan(prod, { ...own, output: "prod" }),
    await createSpan(prod, { ...elsewhere, output: "elsewhere" }),
    await createSpan(testKey, { ...own, output: "test" }),
    await createSpan(other.prod, { ...own, output: "other" }),
  ];
  expect(new Set(created.map((row) => row["unique_id"])).size).toBe(4);
  await Promise.all([settle(prod), settle(other.prod)]);
  const outputs = async (client: TestClient, trace: unknown, query = "") =>
    (await listSpans(client, inTrace(trace), query)).results.map((row) => row["output"]);
  expect(await outputs(prod, own.trace_unique_id, "environment=prod")).toEqual(["prod"]);
  expect(await outputs(prod, own.trace_unique_id, "environment=test")).toEqual(["test"]);
  expect(await outputs(prod, elsewhere.trace_unique_id)).toEqual(["elsewhere"]);
  expect(await outputs(other.prod, own.trace_unique_id)).toEqual(["other"]);
});

test("a span id without a trace id identifies nothing", async () => {
  const custom_identifier = randomUUID();
  const body = { span_unique_id: "span-1", custom_identifier };
  await storeSpans(prod, [body, body]);
  expect((await listSpans(prod, { custom_identifier: [custom_identifier] })).count).toBe(2);
});

describe.concurrent("Idempotency-Key", () => {
  const key = () => ({ "idempotency-key": randomUUID() });

  test("makes a repeated create one span", async () => {
    const custom_identifier = randomUUID();
    const headers = key();
    const body = { custom_identifier, output: "a", cost: 2 };
    const [first, second] = [await createSpan(prod, body, headers), await createSpan(prod, body, headers)];
    expect(second["unique_id"]).toBe(first["unique_id"]);
    await settle(prod);
    const filter = { custom_identifier: [custom_identifier] };
    expect(await summarize(prod, filter)).toMatchObject({ number_of_requests: 1, total_cost: 2 });
  });

  test("makes a repeated bulk request as many spans as it has rows", async () => {
    const custom_identifier = randomUUID();
    const headers = key();
    const logs = [{ custom_identifier, cost: 1 }, "no object", { custom_identifier, cost: 2 }];
    for (let time = 0; time < 2; time += 1) {
      const answer = await prod.post("/api/request-logs/bulk/", { logs }, headers);
      expect(bodyOf(answer)).toMatchObject({ success_count: 2, error_count: 1 });
    }
    await settle(prod);
    const filter = { custom_identifier: [custom_identifier] };
    expect(await summarize(prod, filter)).toMatchObject({ number_of_requests: 2, total_cost: 3 });
  });

  test("has no effect in another environment or organisation", async () => {
    const other = await app.newOrganization();
    const headers = key();
    const created = [
      await createSpan(prod, {}, headers),
      await createSpan(testKey, {}, headers),
      await createSpan(other.prod, {}, headers),
    ];
    expect(new Set(created.map((row) => row["unique_id"])).size).toBe(3);
  });

  test("has a maximum length", async () => {
    const answer = await prod.post("/api/request-logs/", {}, { "idempotency-key": "k".repeat(255) });
    expect(answer).toMatchObject({ status: 400, json: { errors: { "Idempotency-Key": [expect.any(String)] } } });
  });

  test("identifies a request with its body: another body under the same key replaces nothing", async () => {
    const custom_identifier = randomUUID();
    const headers = key();
    const bodies = [{ input: "first", cost: 1 }, { input: "second", cost: 5 }, { input: "third" }];
    for (const body of bodies) await createSpan(prod, { ...body, custom_identifier }, headers);
    await prod.post("/api/request-logs/bulk/", { logs: [{ custom_identifier, cost: 7 }] }, headers);
    await settle(prod);
    const filter = { custom_identifier: [custom_identifier] };
    expect(await summarize(prod, filter)).toMatchObject({ number_of_requests: 4, total_cost: 13 });
  });
});

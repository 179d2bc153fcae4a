import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listCustomers } from "../support/customers.ts";
import { always, createSpan, listSpans, retrieveSpan, settle, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";
import { ingest, listTraces, retrieveTrace, traceSpan, type Node } from "../support/traces.ts";

/** What counts, and for whom, wherever it is shown. */
let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

async function newClient(): Promise<TestClient> {
  ({ prod } = await app.newOrganization());
  return prod;
}

const call = { log_type: "chat", model: "gpt-4o", prompt_tokens: 100_000, completion_tokens: 1_000 };
const unpricedCall = { log_type: "chat", model: "no such model", prompt_tokens: 100, completion_tokens: 10 };

async function groupsBy(client: TestClient, groupBy: string, filters: unknown = {}): Promise<Row[]> {
  const { json } = await client.post(`/api/request-logs/groups/?${always}&group_by=${groupBy}`, { filters });
  return (json as ListAnswer).results;
}

const flat = (nodes: readonly Node[]): Node[] => nodes.flatMap((node) => [node, ...flat(node.children)]);
const sumOf = (rows: readonly Row[], member: string) =>
  Math.round(rows.reduce((sum, row) => sum + Number(row[member] ?? 0), 0) * 1e12) / 1e12;

async function exportSpans(client: TestClient): Promise<Row[]> {
  const { text } = await client.post("/api/request-logs/export/?start_time=2000-01-01&format=jsonl", {});
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
}

/** The total sums, which every place must agree on, and which rows add up to. */
async function expectSums(client: TestClient, trace: string, sums: { total_cost: number; total_tokens: number }) {
  expect(await summarize(client)).toMatchObject(sums);
  expect((await listTraces(client)).results).toMatchObject([sums]);
  const { results } = await listSpans(client, {}, "page_size=1000");
  const whole = await retrieveTrace(client, trace);
  const slim = await retrieveTrace(client, trace, "tree=slim");
  const flatTree = (await retrieveTrace(client, trace, "tree=flat"))["spans"] as { results: Row[] };
  const retrieved = await Promise.all(results.map((row) => retrieveSpan(client, row["unique_id"])));
  for (const shown of [whole, slim]) expect(shown).toMatchObject(sums);
  const exported = await exportSpans(client);
  for (const rows of [results, exported, retrieved, flat(whole.span_tree), flat(slim.span_tree), flatTree.results]) {
    expect(sumOf(rows, "counted_cost")).toBe(sums.total_cost);
    expect(sumOf(rows, "counted_tokens")).toBe(sums.total_tokens);
  }
}

test("M3: a tool's own cost does not restate its model call, not even for its customer", async () => {
  const client = await newClient();
  await ingest(client, [
    traceSpan("t", "tool", "chat", 0, { log_type: "tool", cost: 0.0001 }),
    traceSpan("t", "chat", null, 0, { ...call, customer_identifier: "c" }),
  ]);
  await expectSums(client, "t", { total_cost: 0.2601, total_tokens: 101_000 });
  expect(await groupsBy(client, "customer_identifier")).toMatchObject([
    { customer_identifier: "c", total_cost: 0.2601, total_tokens: 101_000, number_of_requests: 2 },
  ]);
});

test("M3: a cost stated above covers the unpriced calls below", async () => {
  const client = await newClient();
  await ingest(client, [
    traceSpan("t", "agent", null, 0, { log_type: "agent", cost: 0.42, prompt_tokens: 110 }),
    traceSpan("t", "chat", "agent", 0, unpricedCall),
  ]);
  await expectSums(client, "t", { total_cost: 0.42, total_tokens: 110 });
  expect(await summarize(client)).toMatchObject({ unpriced_count: 0 });
});

test("M3: a resend, a late wrapper and a deletion are recounted", async () => {
  const client = await newClient();
  const chat = traceSpan("t", "chat", "agent", 0, { log_type: "chat", model: "m", prompt_tokens: 5, cost: 0.2 });
  await ingest(client, [traceSpan("t", "agent", null, 100, { log_type: "agent", cost: 0.5, prompt_tokens: 5 })]);
  expect(await summarize(client)).toMatchObject({ total_cost: 0.5, total_tokens: 5 });
  await ingest(client, [chat]);
  await expectSums(client, "t", { total_cost: 0.2, total_tokens: 5 });
  // With another end, and another cost.
  await ingest(client, [{ ...chat, timestamp: "2026-02-03T05:00:00Z", cost: 0.3, output: "done" }]);
  await expectSums(client, "t", { total_cost: 0.3, total_tokens: 5 });
  const window = "start_time=2026-02-03T04:59:59Z&end_time=2026-02-03T05:00:01Z";
  await client.request("DELETE", `/api/traces/t/?${window}`);
  expect(await summarize(client)).toMatchObject({ number_of_requests: 1, total_cost: 0.5, total_tokens: 5 });
});

test("M5: two instrumentations report one call as siblings, one of them without content", async () => {
  const client = await newClient();
  const folder = join(import.meta.dirname, "../fixtures");
  const body = JSON.parse(readFileSync(join(folder, "one-call-twice.traces.json"), "utf8")) as unknown;
  const answer = await client.post("/api/v2/traces", body);
  expect(answer.status).toBe(200);
  await settle(client);
  const { results } = await listSpans(client, { log_type: "chat" }, "page_size=100");
  const used = results.filter((row) => Number(row["total_tokens"]) > 0);
  expect(used).toHaveLength(6);
  expect(used.filter((row) => Number(row["counted_tokens"]) > 0)).toHaveLength(3);
  expect(await summarize(client)).toMatchObject({ total_tokens: 222 });
});

test("M5: a span that names the gateway's log is that call, in any order, and determines for whom it counts", async () => {
  const client = await newClient();
  const messages = [{ role: "user", content: "hi" }];
  const answer = await client.post("/api/chat/completions", { model: "spanway/echo", messages });
  const logId = answer.headers.get("x-spanway-log-id") ?? "";
  const report = { log_type: "chat", model: "gpt-4o", prompt_tokens: 7, completion_tokens: 1, cost: 0.3 };
  await ingest(client, [
    traceSpan("t", "root", null, 0, { customer_identifier: "ann", thread_identifier: "th" }),
    traceSpan("t", "client", "root", 0, { ...report, gateway_log_id: logId }),
    traceSpan("t", "unknown", "root", 0, { ...report, gateway_log_id: randomUUID() }),
  ]);
  const gateway = await retrieveSpan(client, logId);
  expect(gateway).toMatchObject({
    customer_identifier: null,
    counted_customer_identifier: "ann",
    counted_thread_identifier: "th",
  });
  expect(await summarize(client)).toMatchObject({
    total_cost: 0.3 + Number(gateway["cost"]),
    total_tokens: 8 + Number(gateway["total_tokens"]),
  });
  // Another organization's span with that id does not belong to this organization.
  const other = await newClient();
  await ingest(other, [traceSpan("t", "client", null, 0, { ...report, gateway_log_id: logId })]);
  expect(await summarize(other)).toMatchObject({ total_cost: 0.3, total_tokens: 8 });
});

test("M7: rows add up to the summary of the same filters, and state what was sent", async () => {
  const client = await newClient();
  await ingest(client, [
    traceSpan("t", "root", null, 0, { customer_identifier: "ann", log_type: "workflow" }),
    traceSpan("t", "agent", "root", 0, {
      log_type: "agent",
      cost: 0.26,
      prompt_tokens: 100_000,
      completion_tokens: 1_000,
    }),
    traceSpan("t", "chat", "agent", 0, call),
    traceSpan("t", "unpriced", "root", 0, unpricedCall),
  ]);
  await expectSums(client, "t", { total_cost: 0.26, total_tokens: 101_110 });
  for (const filters of [
    { log_type: "agent" },
    { log_type: "chat" },
    { customer_identifier: "ann" },
    { span_name: "root" },
  ]) {
    const { results } = await listSpans(client, filters, "page_size=100");
    const summary = await summarize(client, filters);
    expect([sumOf(results, "counted_cost"), sumOf(results, "counted_tokens"), results.length]).toEqual([
      summary["total_cost"],
      summary["total_tokens"],
      summary["number_of_requests"],
    ]);
  }
  const { results } = await listSpans(client, { span_name: "agent" });
  expect(results).toMatchObject([{ cost: 0.26, counted_cost: 0, total_tokens: 101_000, counted_tokens: 0 }]);
  const unpriced = await listSpans(client, { span_name: "unpriced" });
  expect(unpriced.results).toMatchObject([{ counted_cost: null, counted_tokens: 110 }]);
});

test("M7: the parts of any window add up to its whole", async () => {
  const client = await newClient();
  await ingest(client, [
    traceSpan("t", "chat", "agent", 0, { log_type: "chat", prompt_tokens: 5, cost: 0.2 }),
    traceSpan("t", "agent", "root", 30, { log_type: "agent", prompt_tokens: 5, cost: 0.2 }),
    traceSpan("t", "root", null, 60, { log_type: "workflow", prompt_tokens: 5, cost: 0.2, customer_identifier: "ann" }),
  ]);
  const windows = ["2026-02-03T04:00:00Z", "2026-02-03T04:05:20Z", "2026-02-03T04:05:40Z", "2026-02-03T06:00:00Z"];
  const parts: Row[] = [];
  for (const [index, start] of windows.slice(0, -1).entries()) {
    const range = `start_time=${start}&end_time=${windows[index + 1]}`;
    const { json } = await client.post(`/api/request-logs/summary/?${range}`, {
      filters: { customer_identifier: "ann" },
    });
    parts.push(json as Row);
  }
  expect(parts.map((part) => part["total_cost"])).toEqual([0.2, 0, 0]);
  expect(sumOf(parts, "number_of_requests")).toBe(3);
});

test("M8: a span counts for the customer of the nearest span above, otherwise of its trace, also if the root arrives last", async () => {
  const client = await newClient();
  const spans = [
    traceSpan("t", "lost", "gone", 0, call),
    traceSpan("t", "chat", "step", 1, call),
    traceSpan("t", "step", "root", 1),
    traceSpan("t", "sub", "root", 2, { customer_identifier: "bob" }),
    traceSpan("t", "chat of sub", "sub", 2, call),
  ];
  for (const span of spans) await ingest(client, [span]);
  expect(await groupsBy(client, "customer_identifier", { log_type: "chat" })).toMatchObject([
    { customer_identifier: "bob", total_cost: 0.78 },
  ]);
  await ingest(client, [traceSpan("t", "root", null, 3, { customer_identifier: "ann", thread_identifier: "th" })]);
  const groups = await groupsBy(client, "customer_identifier");
  expect(
    groups.toSorted((a, b) => String(a["customer_identifier"]).localeCompare(String(b["customer_identifier"]))),
  ).toMatchObject([
    { customer_identifier: "ann", total_cost: 0.52, number_of_requests: 4 },
    { customer_identifier: "bob", total_cost: 0.26, number_of_requests: 2 },
  ]);
  expect(await summarize(client, { customer_identifier: "ann" })).toMatchObject({ total_cost: 0.52 });
  const { results } = await listSpans(client, { customer_identifier: "ann", log_type: "chat" }, "sort_by=timestamp");
  expect(results).toMatchObject([
    { span_unique_id: "lost", customer_identifier: null, counted_customer_identifier: "ann" },
    { span_unique_id: "chat", customer_identifier: null, counted_customer_identifier: "ann" },
  ]);
  const threads = await client.post(`/api/log_threads/?${always}`, {});
  expect((threads.json as ListAnswer).results).toMatchObject([
    { thread_identifier: "th", log_count: 6, total_cost: 0.78 },
  ]);
  await expect
    .poll(async () => (await listCustomers(client)).results, { timeout: 5_000 })
    .toContainEqual(expect.objectContaining({ customer_identifier: "ann", total_cost: 0.52, number_of_requests: 4 }));
});

test("M10: a trace in a list is complete, whichever part of it is in the window", async () => {
  const client = await newClient();
  const hours = 3600;
  await ingest(client, [
    traceSpan("long", "root", null, 0, { customer_identifier: "ann" }),
    traceSpan("long", "late", "root", 5 * hours, { ...call, status_code: 500 }),
    traceSpan("long", "middle", "root", 2 * hours, call),
    traceSpan("short", "root", null, 2 * hours - 20, { customer_identifier: "bob" }),
    traceSpan("short", "chat", "root", 2 * hours + 20, call),
    traceSpan("within", "root", null, 2 * hours + 5, { customer_identifier: "cid" }),
  ]);
  const whole = (await listTraces(client)).results;
  expect(whole).toHaveLength(3);
  const from = "2026-02-03T06:05:00Z";
  for (const [start, end, names] of [
    [from, "2026-02-03T06:05:59Z", ["long", "short", "within"]],
    ["2026-02-03T04:05:00Z", "2026-02-03T04:05:59Z", ["long"]],
    ["2026-02-03T06:04:30Z", "2026-02-03T06:04:50Z", ["short"]],
    ["2026-02-03T09:00:00Z", "2026-02-03T10:00:00Z", ["long"]],
  ] as const) {
    const window = `start_time=${start}&end_time=${end}`;
    const { results } = await listTraces(client, {}, window);
    const expected = whole.filter((row) => names.some((name) => name === row["trace_unique_id"]));
    expect(results.map((row) => String(row["trace_unique_id"])).toSorted()).toEqual([...names]);
    expect(results).toEqual(expected);
    for (const row of results) {
      const {
        span_tree: _tree,
        is_slim: _slim,
        is_truncated: _cut,
        ...retrieved
      } = await retrieveTrace(client, String(row["trace_unique_id"]));
      expect(retrieved).toMatchObject(row);
    }
  }
  const window = `start_time=${from}&end_time=2026-02-03T06:05:59Z`;
  const filtered = async (filters: unknown) =>
    (await listTraces(client, filters, window)).results.map((row) => row["trace_unique_id"]);
  expect(await filtered({ customer_identifier: "ann" })).toEqual(["long"]);
  expect(await filtered({ total_cost: { operator: "gt", value: [0.5] } })).toEqual(["long"]);
  expect(await filtered({ error_count: { operator: "gte", value: [1] } })).toEqual(["long"]);
  expect(await filtered({ span_name: "late" })).toEqual(["long"]);
  const sorted = await listTraces(client, {}, `${window}&sort_by=-total_cost`);
  expect(sorted.results.map((row) => row["trace_unique_id"])).toEqual(["long", "short", "within"]);
});

test("S15: an orphan is never the root beside a span without a parent", async () => {
  const client = await newClient();
  await ingest(client, [
    traceSpan("t", "orphan", "gone", 0, { session_identifier: "of orphan", customer_identifier: "o" }),
    traceSpan("t", "root", null, 5, { customer_identifier: "r" }),
    traceSpan("orphans", "second", "gone", 5),
    traceSpan("orphans", "first", "gone too", 1),
  ]);
  const rows = (await listTraces(client, {}, `${always}&sort_by=start_time`)).results;
  for (const row of [...rows, await retrieveTrace(client, "t"), await retrieveTrace(client, "orphans")]) {
    const isOrphans = row["trace_unique_id"] === "orphans";
    expect(row).toMatchObject(isOrphans ? { name: "first" } : { name: "root", customer_identifier: "r" });
  }
  const flatAnswer = await retrieveTrace(client, "t", "tree=flat");
  expect(flatAnswer).toMatchObject({ name: "root", root_span_unique_id: "root" });
});

test("M8: spans outside of traces count only for whom they name", async () => {
  const client = await newClient();
  await createSpan(client, { ...call, customer_identifier: "ann" });
  await createSpan(client, { ...call, thread_identifier: "th" });
  await settle(client);
  const rows = (await listSpans(client)).results;
  for (const row of rows) {
    expect(row["counted_customer_identifier"]).toBe(row["customer_identifier"]);
    expect(row["counted_thread_identifier"]).toBe(row["thread_identifier"]);
  }
  expect(await summarize(client, { customer_identifier: "ann" })).toMatchObject({ number_of_requests: 1 });
});

import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { always, settle, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";
import { listTraces, retrieveTrace } from "../support/traces.ts";

/**
 * Lists compute the figures of a trace in the store, a retrieved trace from its spans, and threads, groups and the
 * summary sum the same spans in other ways: all must agree.
 */
let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  const organization = await app.newOrganization();
  ({ prod } = organization);
  await storeTraces(prod, traces);
  // The same ids with other parents, which must not be mixed up with them.
  const others = traces.map((spans) => spans.map((span) => ({ ...span, span_parent_id: "a" })));
  await storeTraces(organization.test, others);
  await storeTraces((await app.newOrganization()).prod, others);
}, 60_000);
afterAll(() => app.stop());

const ids = ["a", "b", "c", "d", "e", "f", "g"];
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const spanOf = (id: string) =>
  fc.record({
    span_unique_id: fc.constant(id),
    // Any parents: itself, each other, descendants, and a missing one.
    span_parent_id: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...ids, "gone") }, fc.constant("")),
    span_name: fc.constant(`span ${id}`),
    log_type: fc.constantFrom("chat", "agent", "tool", "generation"),
    second: fc.nat(20),
    latency: fc.nat(5),
    usage: maybe(
      fc.record({
        prompt_tokens: fc.nat(50),
        completion_tokens: fc.nat(50),
        prompt_cache_hit_tokens: fc.constantFrom(0, 0, 7, 60),
      }),
    ),
    cost: maybe(fc.constantFrom(0, 0.1, 0.25, 1e-7)),
    status_code: fc.constantFrom(200, 200, 200, 429, 500),
    customer_identifier: maybe(fc.constantFrom("ann", "bob")),
    thread_identifier: maybe(fc.constantFrom("t1", "t2")),
    session_identifier: maybe(fc.constantFrom("s1", "s2")),
    span_workflow_name: maybe(fc.constantFrom("w1", "w2")),
    model: maybe(fc.constantFrom("no such model", "gpt-4o")),
  });

const traceOf = fc.subarray(ids, { minLength: 1 }).chain((chosen) => fc.tuple(...chosen.map(spanOf)));

const traces = fc.sample(traceOf, { numRuns: 120, seed: 5 });

async function storeTraces(client: TestClient, shapes: typeof traces): Promise<void> {
  const startMs = Date.now() - 600_000;
  const logs = shapes.flatMap((spans, n) =>
    spans.map(({ second, latency, usage, ...span }) => ({
      ...span,
      ...usage,
      trace_unique_id: `trace ${n}`,
      start_time: new Date(startMs + second * 1000).toISOString(),
      timestamp: new Date(startMs + (second + latency) * 1000).toISOString(),
    })),
  );
  for (let first = 0; first < logs.length; first += 500) {
    await client.post("/api/request-logs/bulk/", { logs: logs.slice(first, first + 500) });
  }
  await client.waitForSpans(logs.length);
  await settle(client);
}

const inProd = `${always}&environment=prod&page_size=1000`;
const rowsOfTraces = async () => (await listTraces(prod, {}, inProd)).results;
const groups = async (groupBy: string): Promise<Row[]> => {
  const { json } = await prod.post(`/api/request-logs/groups/?${inProd}&group_by=${groupBy}`, {});
  return (json as ListAnswer).results;
};

/** Sums of dollars are doubles: beyond the twelfth digit they depend on the order of addition. */
const sum = (rows: readonly Row[], figure: string) =>
  Number(rows.reduce((total, row) => total + Number(row[figure]), 0).toFixed(9));
const only = (row: Row, figures: readonly string[]) => figures.map((figure) => sum([row], figure));

test("a retrieved trace equals its row in the list, for any shape", async () => {
  const rows = await rowsOfTraces();
  expect(rows).toHaveLength(traces.length);
  for (const row of rows) {
    const id = String(row["id"]);
    const { span_tree: _, is_slim: _slim, is_truncated: _cut, ...trace } = await retrieveTrace(prod, id);
    expect(trace, id).toEqual(row);
  }
});

test("the summary and groups have the same sums as the traces", async () => {
  const rows = await rowsOfTraces();
  const summary = await summarize(prod, { environment: ["prod"] });
  for (const figure of ["total_cost", "total_tokens", "total_prompt_tokens", "total_completion_tokens"]) {
    expect([figure, sum([summary], figure)]).toEqual([figure, sum(rows, figure)]);
  }
  expect(summary["number_of_requests"]).toBe(sum(rows, "span_count"));
  for (const groupBy of ["model", "log_type", "trace"]) {
    const grouped = await groups(groupBy);
    for (const figure of ["total_cost", "total_tokens", "error_count", "span_count"]) {
      expect([groupBy, figure, sum(grouped, figure)]).toEqual([groupBy, figure, sum(rows, figure)]);
    }
  }
});

test("a group and a summary of one trace equal its row", async () => {
  const figures = ["total_cost", "total_tokens", "error_count", "span_count"];
  const byTrace = new Map((await groups("trace")).map((row) => [row["trace_unique_id"], only(row, figures)]));
  for (const [n, row] of (await rowsOfTraces()).entries()) {
    const id = row["trace_unique_id"];
    expect([id, byTrace.get(id)]).toEqual([id, only(row, figures)]);
    if (n % 10 !== 0) continue;
    const summary = await summarize(prod, { trace_unique_id: [id], environment: ["prod"] });
    expect([id, ...only(summary, figures.slice(0, 2))]).toEqual([id, ...only(row, figures.slice(0, 2))]);
  }
});

test("threads equal groups by thread, also if a filter leaves one", async () => {
  const figures = ["total_cost", "total_tokens"];
  const list = async (filters: unknown) =>
    ((await prod.post(`/api/log_threads/?${always}`, { filters })).json as ListAnswer).results;
  const threads = await list({});
  const byThread = new Map((await groups("thread")).map((row) => [row["thread_identifier"], row]));
  expect(threads).toHaveLength(2);
  for (const row of threads) {
    const id = row["thread_identifier"];
    const group = byThread.get(id) ?? {};
    expect([id, row["log_count"], ...only(row, figures)]).toEqual([id, group["span_count"], ...only(group, figures)]);
    expect(await list({ thread_identifier: [id] })).toEqual([row]);
  }
});

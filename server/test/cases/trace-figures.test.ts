import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { retrieveTrace } from "../support/traces.ts";

/** Lists compute the figures of a trace where its spans are kept, a retrieved trace from its spans: both must agree. */
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const ids = ["a", "b", "c", "d", "e", "f", "g"];
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const spanOf = (id: string) =>
  fc.record({
    span_unique_id: fc.constant(id),
    // Parents anywhere: itself, each other, below, and one that is not there.
    span_parent_id: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...ids, "gone") }, fc.constant("")),
    span_name: fc.constant(`span ${id}`),
    log_type: fc.constantFrom("chat", "agent", "tool", "generation"),
    second: fc.nat(20),
    latency: fc.nat(5),
    usage: maybe(fc.record({ prompt_tokens: fc.nat(50), completion_tokens: fc.nat(50) })),
    cost: maybe(fc.constantFrom(0, 0.1, 0.25, 1e-7)),
    status_code: fc.constantFrom(200, 200, 200, 429, 500),
    customer_identifier: maybe(fc.constantFrom("ann", "bob")),
    thread_identifier: maybe(fc.constantFrom("t1", "t2")),
    session_identifier: maybe(fc.constantFrom("s1", "s2")),
    span_workflow_name: maybe(fc.constantFrom("w1", "w2")),
    model: maybe(fc.constantFrom("no such model", "gpt-4o")),
  });

const traceOf = fc.subarray(ids, { minLength: 1 }).chain((chosen) => fc.tuple(...chosen.map(spanOf)));

test("a retrieved trace says what its row in the list says, whatever shape it has", async () => {
  const { prod: client } = await app.newOrganization();
  const startMs = Date.now() - 600_000;
  const traces = fc.sample(traceOf, { numRuns: 120, seed: 5 });
  const logs = traces.flatMap((spans, n) =>
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
  const { json } = await client.post("/api/traces/list/?page_size=1000", {});
  const { results } = json as { results: Array<Record<string, unknown>> };
  expect(results).toHaveLength(traces.length);
  for (const row of results) {
    const {
      span_tree: _,
      is_slim: _slim,
      is_truncated: _cut,
      ...trace
    } = await retrieveTrace(client, String(row["id"]));
    expect(trace, String(row["id"])).toEqual(row);
  }
});

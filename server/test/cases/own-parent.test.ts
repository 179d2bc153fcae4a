import { afterAll, beforeAll, expect, test } from "vitest";
import { listCustomers } from "../support/customers.ts";
import { always, storeSpans, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { listTraces, retrieveTrace } from "../support/traces.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("a span that is its own parent counts its usage", async () => {
  const { prod } = await app.newOrganization();
  const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 1, log_type: "chat" };
  await storeSpans(prod, [{ trace_unique_id: "t", span_unique_id: "s", span_parent_id: "s", ...usage }]);
  expect(await summarize(prod)).toMatchObject({ number_of_requests: 1, total_cost: 1, total_tokens: 15 });
});

const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 1, log_type: "chat" };

/** Spans by their id: the parent of each, and whether it states usage. */
type Shape = Record<string, [parent: string, isUsed?: boolean]>;

test.each<[what: string, shape: Shape, counted: number]>([
  ["both have usage", { a: ["b", true], b: ["a", true] }, 2],
  ["one has usage", { a: ["b", true], b: ["a"] }, 1],
  ["a call far below has usage too", { a: ["b"], b: ["a", true], step: ["a"], call: ["step", true] }, 1],
  [
    "a wrapper stands beside",
    { a: ["b", true], b: ["a", true], top: [""], agent: ["top", true], call: ["agent", true] },
    3,
  ],
])("two spans that are each other's parent count their usage in every sum: %s", async (_, shape, counted) => {
  const { prod } = await app.newOrganization();
  const spans = Object.entries(shape).map(([id, [parent, isUsed]]) => ({
    trace_unique_id: "t",
    span_unique_id: id,
    ...(parent !== "" && { span_parent_id: parent }),
    customer_identifier: "ann",
    ...(isUsed === true && usage),
  }));
  await storeSpans(prod, spans);
  const sums = { total_cost: counted, total_tokens: 15 * counted };
  expect(await summarize(prod)).toMatchObject(sums);
  for (const grouping of ["trace", "customer_identifier"]) {
    const { json } = await prod.post(`/api/request-logs/groups/?${always}&group_by=${grouping}`);
    expect(json, grouping).toMatchObject({ results: [sums] });
  }
  expect(await retrieveTrace(prod, "t")).toMatchObject(sums);
  expect((await listTraces(prod)).results).toMatchObject([sums]);
  await expect.poll(async () => (await listCustomers(prod)).results, { timeout: 5_000 }).toMatchObject([sums]);
});

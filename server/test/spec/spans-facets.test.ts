import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";
import { always, bodyOf, fieldsOf, storeSpans } from "../support/spans.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
  await storeSpans(prod, [
    {
      model: "m1",
      customer_identifier: "Ann's",
      metadata: { plan: "pro", team: { name: "core" } },
      trace_unique_id: "t",
      span_unique_id: "root",
    },
    // Counts for the customer of its trace.
    { model: "m1", trace_unique_id: "t", span_unique_id: "child", span_parent_id: "root", metadata: { plan: "pro" } },
    { model: "m2", status_code: 500, metadata: { plan: "free", _hidden: 1 } },
    { log_type: "tool", customer_identifier: "bob" },
  ]);
});
afterAll(() => app.stop());

const path = "/api/request-logs/facets/";
type Facets = { facets: Record<string, Array<{ value: unknown; count: number }>>; metadata_keys: Row[] };
async function facets(query: string, body: unknown = {}, client = prod): Promise<Facets> {
  const answer = await client.post(`${path}?${always}&${query}`, body);
  if (answer.status !== 200) throw new Error(`facets answered ${answer.status}: ${answer.text}`);
  return answer.json as Facets;
}

test("lists the values of the usual fields, the most frequent first, and the keys of metadata", async () => {
  const answer = await facets("");
  expect(answer).toMatchObject({
    facets: {
      model: [
        { value: "m1", count: 2 },
        { value: "m2", count: 1 },
      ],
      status: [
        { value: "success", count: 3 },
        { value: "failed", count: 1 },
      ],
      customer_identifier: [
        { value: "Ann's", count: 2 },
        { value: "bob", count: 1 },
      ],
      span_name: [],
      provider_id: expect.any(Array),
      environment: [{ value: "prod", count: 4 }],
    },
    metadata_keys: [
      { key: "plan", count: 3 },
      { key: "team", count: 1 },
      { key: "team__name", count: 1 },
    ],
  });
  expect(Object.keys(answer.facets)).toEqual([
    "model",
    "status",
    "log_type",
    "customer_identifier",
    "span_name",
    "provider_id",
    "environment",
  ]);
  expect(bodyOf(await prod.get(`${path}?${always}`))["facets"]).toEqual(answer.facets);
});

test("fields can be chosen, filtered, and limited each", async () => {
  expect((await facets("fields=status_code,metadata__plan,metadata__team__name")).facets).toEqual({
    status_code: [
      { value: 200, count: 3 },
      { value: 500, count: 1 },
    ],
    metadata__plan: [
      { value: "pro", count: 2 },
      { value: "free", count: 1 },
    ],
    metadata__team__name: [{ value: "core", count: 1 }],
  });
  const filtered = await facets("fields=model,status&limit=1", {
    filters: { model: { operator: "in", value: ["m1", "m2"] } },
  });
  expect(filtered.facets).toEqual({ model: [{ value: "m1", count: 2 }], status: [{ value: "success", count: 2 }] });
  expect(filtered.metadata_keys).toEqual([{ key: "plan", count: 3 }]);
});

test("the limit is ten values and keys by default, and a hundred at most", async () => {
  const { prod: own } = await app.newOrganization();
  await storeSpans(
    own,
    Array.from({ length: 101 }, (_, n) => ({ span_name: `s${n}`, metadata: { [`k${n}`]: 1 } })),
  );
  const counts = async (query: string) => {
    const { facets: found, metadata_keys: keys } = await facets(`fields=span_name&${query}`, {}, own);
    return [found["span_name"]?.length, keys.length];
  };
  expect(await counts("")).toEqual([10, 10]);
  expect(await counts("limit=100")).toEqual([100, 100]);
});

test("search finds values of one field, for any case and characters", async () => {
  expect((await facets("fields=customer_identifier&search=NN'S")).facets).toEqual({
    customer_identifier: [{ value: "Ann's", count: 2 }],
  });
  expect((await facets("fields=customer_identifier&search=%25")).facets).toEqual({ customer_identifier: [] });
});

test("another organization sees none of it", async () => {
  const { prod: other } = await app.newOrganization();
  expect(await facets("fields=model", {}, other)).toMatchObject({ facets: { model: [] }, metadata_keys: [] });
});

test.each([
  ["fields=nothing", "fields"],
  ["fields=trace", "fields"],
  ["fields=metadata___hidden", "fields"],
  [`fields=${Array.from({ length: 21 }, (_, index) => `metadata__k${index}`).join(",")}`, "fields"],
  ["limit=0", "limit"],
  ["limit=101", "limit"],
  ["search=a", "search"],
  ["fields=model,status&search=a", "search"],
])("%s is 400 naming it", async (query, name) => {
  const answer = await prod.post(`${path}?${query}`, {});
  expect(answer.status).toBe(400);
  expect(fieldsOf(answer)).toEqual([name]);
});

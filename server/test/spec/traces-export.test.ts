import { afterAll, beforeAll, expect, test } from "vitest";
import { exportFormats } from "../../src/storage/spans/span-export.ts";
import { download, exportRows, readExport } from "../support/exports.ts";
import { always, bodyOf, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";

/** Section C of the additions: exports of traces. */

let app: TestApp;
let prod: TestClient;
let other: TestClient;
const path = "/api/traces/export/";

const spans: Row[] = Array.from({ length: 40 }, (_, n) => [
  {
    trace_unique_id: `t${n}`,
    span_unique_id: "root",
    // The parents of some never arrive.
    span_parent_id: n % 5 === 0 ? "elsewhere" : null,
    log_type: "workflow",
    span_name: `=run "${n}"\n`,
    input: `in ${n} 🦊`,
    output: n % 2 === 0 ? "out" : null,
    metadata: { n, "a,b": ["c"] },
    cost: 0.25,
    total_tokens: 10,
    start_time: "2026-01-01T00:00:00Z",
    timestamp: "2026-01-01T00:00:09.5Z",
  },
  {
    trace_unique_id: `t${n}`,
    span_unique_id: "call",
    span_parent_id: "root",
    log_type: "chat",
    model: n % 3 === 0 ? "gpt-4o" : "claude-sonnet-4-5",
    customer_identifier: `customer ${n}`,
    thread_identifier: "thread",
    cost: 0.25,
    prompt_tokens: 7,
    completion_tokens: 3,
    status_code: n % 4 === 0 ? 500 : 200,
    start_time: "2026-01-01T00:00:01Z",
    timestamp: "2026-01-01T00:00:02Z",
  },
]).flat();

beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
  ({ prod: other } = await app.newOrganization());
  await storeSpans(prod, spans);
  await storeSpans(other, [{ trace_unique_id: "t1", span_unique_id: "root", span_name: "of others" }]);
}, 60_000);
afterAll(() => app.stop());

const calls = { model: { operator: "", value: ["gpt-4o"] } };
const listed = async (filters: unknown): Promise<Row[]> =>
  ((await prod.post(`/api/traces/list/?start_time=2025-12-01&page_size=100`, { filters })).json as ListAnswer).results;
const sorted = (rows: Row[]): Row[] => rows.toSorted((a, b) => String(a["id"]).localeCompare(String(b["id"])));

test.each([
  {},
  calls,
  { error_count: { operator: "gte", value: [1] } },
  { trace_unique_id: { operator: "", value: ["t7"] } },
])("JSON Lines have the rows of the list for %j", async (filters) => {
  const answer = await prod.post(`${path}?start_time=2025-12-01`, { filters });
  expect(answer.status).toBe(200);
  const rows = answer.text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row);
  expect(rows.length).toBeGreaterThan(0);
  expect(sorted(rows)).toEqual(sorted(await listed(filters)));
});

test("a trace that crosses the window is complete", async () => {
  const query = "start_time=2026-01-01T00:00:05Z&end_time=2026-01-02";
  const answer = await prod.post(`${path}?${query}&fields=id,span_count,start_time`, {});
  const [first] = answer.text.split("\n");
  expect(JSON.parse(first ?? "")).toMatchObject({ span_count: 2, start_time: "2026-01-01T00:00:00.000Z" });
});

test.each(exportFormats)("%s has the requested fields, only of the organization", async (format) => {
  const fields = "trace_unique_id,name,total_cost,input,metadata";
  const rows = await readExport(
    format,
    await download(app.url + path, prod, `format=${format}&fields=${fields}&environment=prod`),
  );
  const traces = sorted(rows.map((row) => ({ ...row, id: row["trace_unique_id"] }))).filter(({ id }) =>
    /^t\d/.test(id as string),
  );
  expect(traces).toHaveLength(40);
  const [first] = traces;
  expect(Object.keys(first ?? {})).toEqual([...fields.split(","), "id"]);
  expect(first).toMatchObject({
    name: `${format === "csv" ? "'" : ""}=run "0"\n`,
    total_cost: format === "csv" ? "0.25" : 0.25,
    input: "in 0 🦊",
    metadata: format === "jsonl" ? { n: 0, "a,b": ["c"] } : '{"n":0,"a,b":["c"]}',
  });
  const others = await readExport(format, await download(app.url + path, other, `format=${format}&fields=name`));
  expect(others.map((row) => row["name"])).toContain("of others");
  expect(others.length).toBeLessThan(40);
});

test.each(["jsonl", "csv"])("%s is compressed with gzip if the client accepts it", async (format) => {
  const encodingOf = async (accepted: string) => {
    const answer = await prod.post(`${path}?${always}&format=${format}`, {}, { "accept-encoding": accepted });
    expect(answer.text).toContain("t39");
    return answer.headers.get("content-encoding");
  };
  expect([await encodingOf("gzip"), await encodingOf("identity")]).toEqual(["gzip", null]);
});

test("has only figures if no payload is requested", async () => {
  const rows = await exportRows(prod, path, calls, "fields=id,model,organization_name,storage_object_key");
  expect(rows).toHaveLength(14);
  expect(rows[0]).toMatchObject({
    model: "gpt-4o",
    organization_name: "Another organization",
    storage_object_key: null,
  });
});

test.each([
  ["", "start_time"],
  ["start_time=2026-01-01&format=xml", "format"],
  ["start_time=2026-01-01&fields=cost", "fields"],
])("?%s is refused, naming %s", async (query, name) => {
  const answer = await prod.post(`${path}?${query}`, {});
  expect(answer.status).toBe(400);
  expect(bodyOf(answer)["errors"]).toHaveProperty(name);
});

test("is named after its content", async () => {
  const { headers } = await prod.post(`${path}?${always}&format=csv&environment=prod`, {});
  expect(headers.get("content-disposition")).toMatch(/^attachment; filename="traces-prod-19800101T000000Z-.*\.csv"$/);
});

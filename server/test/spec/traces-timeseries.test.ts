import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fieldsOf, listSpans, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
const path = "/api/traces/timeseries/";

type Series = { group: Row; values: Record<string, Array<number | null>>; totals: Record<string, number | null> };
type Answer = { buckets: string[]; series: Series[]; other: Omit<Series, "group"> | null };

async function timeseries(query: string, body: unknown = {}): Promise<Answer> {
  const answer = await prod.post(`${path}?${query}`, body);
  if (answer.status !== 200) throw new Error(`timeseries answered ${answer.status}: ${answer.text}`);
  return answer.json as Answer;
}

const day = "start_time=2026-03-01T00:00:00Z&end_time=2026-03-01T23:59:59Z";
const span = (trace: string, id: string, time: string, more: Row = {}): Row => ({
  trace_unique_id: trace,
  span_unique_id: id,
  ...(id !== "root" && { span_parent_id: "root" }),
  timestamp: `2026-03-${time}Z`,
  start_time: `2026-03-${time}Z`,
  log_type: "tool",
  ...more,
});

beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
  await storeSpans(prod, [
    span("a", "root", "01T05:00:10", { start_time: "2026-03-01T05:00:00Z", customer_identifier: "ann", cost: 3 }),
    span("a", "call", "01T05:00:09", { log_type: "chat", cost: 2, prompt_tokens: 10, completion_tokens: 1 }),
    span("b", "root", "01T07:00:00", { customer_identifier: "bob", status: "failed", span_workflow_name: "w" }),
    span("b", "late", "01T13:00:00", { status: "failed" }),
    span("goes on", "root", "01T23:00:00", { customer_identifier: "ann", span_workflow_name: "w" }),
    span("goes on", "late", "02T09:00:00", { cost: 1 }),
    span("outside", "root", "02T09:00:00", { cost: 100 }),
  ]);
});
afterAll(() => app.stop());

describe("POST /api/traces/timeseries/", () => {
  test("has complete traces in the bucket of their last span; one that continues is in the last bucket", async () => {
    const metrics =
      "number_of_traces,number_of_failed_traces,span_count,llm_call_count,error_count,total_cost,total_tokens,total_prompt_tokens,total_completion_tokens,unpriced_count,average_cost,average_tokens,average_duration,p50_duration,p90_duration,p95_duration,p99_duration,error_percentage,number_of_customers";
    const { buckets, series, other } = await timeseries(`${day}&interval=6h&metrics=${metrics}`);
    expect([buckets.length, other]).toEqual([4, null]);
    expect(series[0]?.values).toEqual({
      number_of_traces: [1, 0, 1, 1],
      number_of_failed_traces: [0, 0, 1, 0],
      span_count: [2, 0, 2, 2],
      llm_call_count: [1, 0, 0, 0],
      error_count: [0, 0, 2, 0],
      total_cost: [2, null, null, 1],
      total_tokens: [11, 0, 0, 0],
      total_prompt_tokens: [10, 0, 0, 0],
      total_completion_tokens: [1, 0, 0, 0],
      unpriced_count: [0, 0, 0, 0],
      average_cost: [2, null, null, 1],
      average_tokens: [11, null, 0, 0],
      average_duration: [10, null, 21_600, 36_000],
      p50_duration: [10, null, 21_600, 36_000],
      p90_duration: [10, null, 21_600, 36_000],
      p95_duration: [10, null, 21_600, 36_000],
      p99_duration: [10, null, 21_600, 36_000],
      error_percentage: [0, null, 100, 0],
      number_of_customers: [1, 0, 1, 1],
    });
    expect(series[0]?.totals).toMatchObject({
      number_of_traces: 3,
      total_cost: 3,
      average_cost: 1.5,
      p50_duration: 21_600,
      error_percentage: 33.333333,
      number_of_customers: 2,
    });
  });

  test("is the same by GET; groups, other and filters are those of traces", async () => {
    const query = `${day}&interval=1d&group_by=customer_identifier&top=1&metrics=number_of_traces`;
    const answer = await timeseries(query);
    expect(answer.series).toEqual([
      { group: { customer_identifier: "ann" }, values: { number_of_traces: [2] }, totals: { number_of_traces: 2 } },
    ]);
    expect(answer.other?.totals).toEqual({ number_of_traces: 1 });
    expect((await prod.get(`${path}?${query}`)).json).toEqual(answer);
    const filtered = await timeseries(`${day}&metrics=number_of_traces&workflow_name=w`, {
      filters: { error_count: { operator: "gt", value: [1] } },
    });
    expect(filtered.series[0]?.totals).toEqual({ number_of_traces: 1 });
    const pair = await timeseries(`${day}&group_by=workflow_name,environment&metrics=number_of_traces`);
    expect(pair.series.map(({ group, totals }) => [group, totals["number_of_traces"]])).toEqual([
      [{ workflow_name: "w", environment: "prod" }, 2],
      [{ workflow_name: "", environment: "prod" }, 1],
    ]);
  });

  test("groups by a key of metadata: of the root, else of the earliest span that has it, with edits", async () => {
    const own = await app.newOrganization();
    const sent = [
      span("of the root", "root", "01T05:00:00", { metadata: { plan: "pro", nested: { region: "eu" } } }),
      span("of the root", "call", "01T04:00:00", { metadata: { plan: "free" } }),
      span("of a child", "root", "01T05:00:00"),
      span("of a child", "late", "01T05:00:02", { metadata: { plan: "pro", team: 'a "b", \n' } }),
      span("of a child", "early", "01T05:00:01", { metadata: { plan: "free" } }),
      span("edited", "root", "01T05:00:00", { metadata: { plan: "free" } }),
      span("without", "root", "01T05:00:00"),
    ];
    await storeSpans(own.prod, sent);
    const [edited] = (await listSpans(own.prod, { trace_unique_id: { value: ["edited"] } })).results;
    const log = `/api/request-logs/${String(edited?.["unique_id"])}/`;
    const change = await own.prod.request("PATCH", log, { metadata: { plan: "team" } });
    expect(change.status).toBe(200);
    const groups = async (groupBy: string) => {
      const query = new URLSearchParams({ group_by: groupBy, metrics: "number_of_traces" }).toString();
      const answer = await own.prod.post(`${path}?${day}&${query}`, {});
      const { series } = answer.json as Answer;
      return series
        .map(({ group, totals }) => [...Object.values(group), totals["number_of_traces"]])
        .toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
    };
    expect(await groups("metadata__plan")).toEqual([
      ["", 1],
      ["free", 1],
      ["pro", 1],
      ["team", 1],
    ]);
    expect(await groups("metadata__nested__region,metadata__plan")).toEqual([
      ["", "", 1],
      ["", "free", 1],
      ["", "team", 1],
      ["eu", "pro", 1],
    ]);
    expect(await groups("metadata__team")).toEqual([
      ["", 3],
      ['a "b", \n', 1],
    ]);
    const reserved = await own.prod.post(`${path}?${day}&group_by=metadata___secret`, {});
    expect([reserved.status, reserved.text]).toEqual([400, expect.stringContaining("group_by must be one of")]);
  });

  test("has the traces of the organization and of the requested environment", async () => {
    const [own, other] = [await app.newOrganization(), await app.newOrganization()];
    await storeSpans(own.prod, [span("mine", "root", "01T05:00:00")]);
    await storeSpans(own.test, [span("mine", "root", "01T06:00:00"), span("more", "root", "01T06:00:00")]);
    const count = async (client: TestClient, query: string) => {
      const answer = await client.post(`${path}?${day}&metrics=number_of_traces&${query}`, {});
      return (answer.json as Answer).series[0]?.totals["number_of_traces"];
    };
    expect([await count(own.prod, ""), await count(own.prod, "environment=prod")]).toEqual([3, 1]);
    expect(await count(own.prod, "environment=test")).toBe(2);
    expect(await count(other.prod, "")).toBe(0);
  });

  test("has buckets on both sides of the epoch", async () => {
    const own = await app.newOrganization();
    const at = (id: string, timestamp: string): Row => ({ ...span(id, "root", ""), timestamp, start_time: timestamp });
    await storeSpans(own.prod, [at("a", "1969-12-31T23:59:59.999999999Z"), at("b", "1970-01-01T00:30:00Z")]);
    const window = "start_time=1969-12-31T23:00:00Z&end_time=1970-01-01T00:59:59Z&log_type=tool";
    const answer = await own.prod.post(`${path}?${window}&interval=1h&metrics=number_of_traces`, {});
    expect(answer.json).toMatchObject({
      buckets: ["1969-12-31T23:00:00Z", "1970-01-01T00:00:00Z"],
      series: [{ values: { number_of_traces: [1, 1] } }],
    });
  });

  test.each([
    ["interval=2h", "interval"],
    ["timezone=Mars/Olympus", "timezone"],
    ["metrics=number_of_requests", "metrics"],
    ["metrics=p50_latency", "metrics"],
    ["group_by=log_type", "group_by"],
    ["group_by=model,nothing", "group_by"],
    ["group_by=model,model", "group_by"],
    ["top=0", "top"],
    ["top=51", "top"],
    ["interval=1m&start_time=2026-03-01T00:00:00Z&end_time=2026-03-01T20:00:00Z&group_by=model&top=50", "top"],
    ["interval=1m&start_time=2016-01-01&end_time=2026-01-01", "interval"],
    ["start_time=2026-03-02&end_time=2026-03-01", "start_time"],
  ])("%s is 400 naming what to change", async (query, name) => {
    const answer = await prod.post(`${path}?${query}`, {});
    expect([answer.status, fieldsOf(answer)]).toEqual([400, [name]]);
  });
});

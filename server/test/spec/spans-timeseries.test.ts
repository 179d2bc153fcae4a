import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";
import { pick } from "../../src/lib/pick.ts";
import { bodyOf, fieldsOf, storeSpans } from "../support/spans.ts";
import { newEvaluator } from "../support/evaluation.ts";

let app: TestApp;
beforeAll(async () => void (app = await startTestApp()));
afterAll(() => app.stop());

type Series = { group: Row; values: Record<string, Array<number | null>>; totals: Record<string, number | null> };
type Answer = { interval: string; buckets: string[]; series: Series[]; other: Omit<Series, "group"> | null };

async function timeseries(client: TestClient, query: string, body: unknown = {}): Promise<Answer> {
  const answer = await client.post(`/api/request-logs/timeseries/?${query}`, body);
  if (answer.status !== 200) throw new Error(`timeseries answered ${answer.status}: ${answer.text}`);
  return answer.json as Answer;
}

const day = "start_time=2026-03-01T00:00:00Z&end_time=2026-03-01T23:59:59Z";
const at = (time: string, span: Row = {}): Row => ({
  timestamp: `2026-03-01T${time}Z`,
  log_type: "chat",
  model: "m1",
  ...span,
});

describe("POST /api/request-logs/timeseries/", () => {
  let prod: TestClient;
  let grouped: TestClient;
  beforeAll(async () => {
    ({ prod } = await app.newOrganization());
    ({ prod: grouped } = await app.newOrganization());
    const names = ["model", "provider_id", "prompt_id", "deployment_id", "deployment_name", "custom_identifier"];
    const ids = ["customer_identifier", "trace_unique_id", "thread_identifier", "span_name"];
    const named = (n: string) => Object.fromEntries([...names, ...ids].map((name) => [name, `${name} ${n}`]));
    await storeSpans(grouped, [
      at("10:00:00", { ...named("a"), cost: 1, metadata: { plan: "pro" } }),
      at("11:00:00", { ...named("a"), cost: 2, metadata: { plan: "pro" } }),
      at("12:00:00", { ...named("b"), cost: 4, log_type: "tool", status: "failed" }),
    ]);
    await storeSpans(prod, [
      at("00:30:00", { cost: 0.1, prompt_tokens: 10, completion_tokens: 5, latency: 1, customer_identifier: "ann" }),
      at("00:59:59.999999999", { cost: 0.2, latency: 3, customer_identifier: "bob", metadata: { plan: "pro" } }),
      at("05:00:00", { model: "unknown", latency: 2, prompt_tokens: 7, completion_tokens: 0, status: "failed" }),
      at("23:59:59", { model: "m2", cost: 5, customer_identifier: "ann", metadata: { plan: "pro" } }),
    ]);
  });

  test("has every bucket of the window; unknown values are null", async () => {
    const metrics =
      "number_of_requests,error_count,total_cost,total_tokens,average_cost,error_percentage,number_of_customers,p50_latency,unpriced_count";
    const answer = await timeseries(prod, `${day}&interval=6h&metrics=${metrics}`);
    expect(answer).toMatchObject({
      interval: "6h",
      timezone: "UTC",
      buckets: ["2026-03-01T00:00:00Z", "2026-03-01T06:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T18:00:00Z"],
      other: null,
    });
    expect(answer.series).toHaveLength(1);
    expect(answer.series[0]).toEqual({
      group: {},
      values: {
        number_of_requests: [3, 0, 0, 1],
        error_count: [1, 0, 0, 0],
        total_cost: [0.3, null, null, 5],
        total_tokens: [22, 0, 0, 0],
        average_cost: [0.15, null, null, 5],
        error_percentage: [33.333333, null, null, 0],
        number_of_customers: [2, 0, 0, 1],
        p50_latency: [2, null, null, null],
        unpriced_count: [1, 0, 0, 0],
      },
      totals: {
        number_of_requests: 4,
        error_count: 1,
        total_cost: 5.3,
        total_tokens: 22,
        average_cost: 1.766666666667,
        error_percentage: 25,
        number_of_customers: 2,
        p50_latency: 2,
        unpriced_count: 1,
      },
    });
    const unpriced = await timeseries(prod, `${day}&interval=1h&metrics=total_cost&model=unknown`);
    expect(unpriced.series[0]?.totals).toEqual({ total_cost: null });
  });

  test("is the same by GET; filters of URL and body are combined", async () => {
    const query = `${day}&interval=1h&metrics=number_of_requests`;
    const got = await prod.get(`/api/request-logs/timeseries/?${query}`);
    expect(got.json).toEqual(await timeseries(prod, query));
    const filtered = await timeseries(prod, `${query}&customer_identifier=ann`, {
      filters: { model: { operator: "", value: ["m2"] } },
    });
    expect(filtered.series[0]?.totals).toEqual({ number_of_requests: 1 });
  });

  test("groups by one or two fields have a series each, the largest first; all others share one", async () => {
    const one = await timeseries(prod, `${day}&interval=6h&group_by=model&metrics=total_cost&top=1`);
    expect(one.series).toEqual([
      { group: { model: "m2" }, values: { total_cost: [null, null, null, 5] }, totals: { total_cost: 5 } },
    ]);
    expect(one.other).toEqual({ values: { total_cost: [0.3, null, null, null] }, totals: { total_cost: 0.3 } });
    const two = await timeseries(
      prod,
      `${day}&interval=1d&group_by=metadata__plan,model&metrics=p95_latency,number_of_requests`,
    );
    expect(two.series.map(({ group, totals }) => [group["metadata__plan"], group["model"], totals])).toEqual([
      ["", "m1", { p95_latency: 1, number_of_requests: 1 }],
      ["", "unknown", { p95_latency: 2, number_of_requests: 1 }],
      ["pro", "m1", { p95_latency: 3, number_of_requests: 1 }],
      ["pro", "m2", { p95_latency: null, number_of_requests: 1 }],
    ]);
    expect(two.other).toBeNull();
  });

  test("knows every metric of the table", async () => {
    const { prod: own } = await app.newOrganization();
    const trace = (n: number) => ({ trace_unique_id: `t${n}`, span_unique_id: "s" });
    const usage = { prompt_tokens: 30, completion_tokens: 10, cost: 1, latency: 1, ttft: 0.1, cache_hit: true };
    const cached = { prompt_cache_hit_tokens: 4, prompt_tokens: 10, completion_tokens: 60 };
    await storeSpans(own, [
      at("10:00:00", { ...trace(1), ...usage, customer_identifier: "ann" }),
      at("10:00:00", { ...trace(2), ...cached, cost: 3, latency: 3, ttft: 0.3, status: "failed" }),
      at("10:00:00", { model: "unknown", prompt_tokens: 5, completion_tokens: 5 }),
    ]);
    const distribution = (name: string, values: number[]) =>
      Object.fromEntries(["average", "p50", "p90", "p95", "p99"].map((kind, n) => [`${kind}_${name}`, values[n]]));
    const expected = {
      number_of_requests: 3,
      error_count: 1,
      total_cost: 4,
      total_tokens: 120,
      total_prompt_tokens: 45,
      total_completion_tokens: 75,
      prompt_cache_hit_tokens: 4,
      unpriced_count: 1,
      number_of_customers: 1,
      number_of_traces: 2,
      error_percentage: 33.333333,
      cache_hit_percentage: 33.333333,
      average_cost: 2,
      average_tokens: 40,
      ...distribution("latency", [2, 2, 2.8, 2.9, 2.98]),
      ...distribution("time_to_first_token", [0.2, 0.2, 0.28, 0.29, 0.298]),
      ...distribution("tokens_per_second", [15, 15, 19, 19.5, 19.9]),
    };
    const { series } = await timeseries(own, `${day}&interval=1d&metrics=${Object.keys(expected).join(",")}`);
    expect(series[0]?.totals).toEqual(expected);
    expect(series[0]?.values).toEqual(Object.fromEntries(Object.entries(expected).map(([name, n]) => [name, [n]])));
  });

  test.each(
    "model provider_id organization_key_id prompt_id deployment_id deployment_name custom_identifier customer_identifier trace thread log_type status span_name environment metadata__plan"
      .split(" ")
      .flatMap((name) => (name === "model" ? [name] : [name, `model,${name}`])),
  )("groups by %s as groups do", async (groupBy) => {
    const query = `${day}&group_by=${groupBy}`;
    const { series } = await timeseries(grouped, `${query}&metrics=number_of_requests,total_cost`);
    const { results } = bodyOf(await grouped.post(`/api/request-logs/groups/?${query}`, {})) as { results: Row[] };
    expect(series.length).toBeGreaterThan(groupBy === "organization_key_id" || groupBy === "environment" ? 0 : 1);
    const shown = series.map(({ group, totals }) => ({ ...group, ...totals }));
    expect(shown).toHaveLength(results.length);
    expect(shown).toEqual(expect.arrayContaining(results.map((row) => pick(row, ...Object.keys(shown[0] ?? {})))));
  });

  test("has ten series by default, and fifty at most", async () => {
    const { prod: own } = await app.newOrganization();
    await storeSpans(
      own,
      Array.from({ length: 12 }, (_, n) => at("10:00:00", { model: `m${n}`, cost: n + 1 })),
    );
    const query = `${day}&interval=1d&group_by=model&metrics=total_cost`;
    const ten = await timeseries(own, query);
    expect(ten.series.map(({ totals }) => totals["total_cost"])).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    expect(ten.other?.totals).toEqual({ total_cost: 3 });
    const fifty = await timeseries(own, `${query}&top=50`);
    expect([fifty.series.length, fifty.other]).toEqual([12, null]);
  });

  test.each([
    ["1,500 buckets", "interval=1m", 1_500, "interval"],
    ["50,000 points", "interval=1m&group_by=model&top=24&metrics=total_cost,p50_latency", 1_000, "top"],
  ])("has %s, and not one more", async (_limit, query, buckets, name) => {
    const startMs = Date.parse("2026-03-01T00:00:00Z");
    const within = (minutes: number) =>
      `start_time=${new Date(startMs).toISOString()}&end_time=${new Date(startMs + minutes * 60_000 - 1).toISOString()}`;
    expect((await timeseries(prod, `${query}&${within(buckets)}`)).buckets).toHaveLength(buckets);
    const more = await prod.post(`/api/request-logs/timeseries/?${query}&${within(buckets + 1)}`, {});
    expect([more.status, fieldsOf(more)]).toEqual([400, [name]]);
  });

  test("has the spans of the requested environment, of both by default", async () => {
    const { prod: own, test: ownTest } = await app.newOrganization();
    await storeSpans(own, [at("10:00:00")]);
    await storeSpans(ownTest, [at("10:00:00"), at("11:00:00")]);
    const counts = await Promise.all(
      ["", "&environment=all", "&environment=prod", "&environment=test"].map(
        async (environment) =>
          (await timeseries(own, `${day}&metrics=number_of_requests${environment}`)).series[0]?.totals,
      ),
    );
    expect(counts.map((totals) => totals?.["number_of_requests"])).toEqual([3, 3, 1, 2]);
  });

  test("the percentiles of other are those of its spans, not of its groups", async () => {
    const { prod: own } = await app.newOrganization();
    const latencies = [1, 2, 3, 4, 100];
    await storeSpans(own, [
      ...Array.from({ length: 9 }, () => at("10:00:00", { model: "big", latency: 50 })),
      ...latencies.map((latency, index) => at("10:00:00", { model: `small-${index}`, latency })),
    ]);
    const { other } = await timeseries(
      own,
      `${day}&interval=1d&group_by=model&top=1&metrics=number_of_requests,p50_latency,p90_latency`,
    );
    expect(other?.totals).toEqual({ number_of_requests: 5, p50_latency: 3, p90_latency: 61.6 });
  });

  test("organizations see their own spans; an empty one has a series of zeros", async () => {
    const { prod: other } = await app.newOrganization();
    const answer = await timeseries(other, `${day}&interval=6h&metrics=number_of_requests,total_cost`);
    expect(answer.series[0]).toMatchObject({
      values: { number_of_requests: [0, 0, 0, 0], total_cost: [null, null, null, null] },
      totals: { number_of_requests: 0, total_cost: null },
    });
    expect((await timeseries(other, `${day}&group_by=model`)).series).toEqual([]);
  });

  test("scores__<evaluator> is the average of its scores, or the share of true values", async () => {
    const { prod: own } = await app.newOrganization();
    await storeSpans(
      own,
      ["00:10:00", "00:20:00", "12:00:00"].map((time) => at(time)),
    );
    const { results } = bodyOf(await own.get(`/api/request-logs/list/?${day}&sort_by=timestamp`)) as { results: Row[] };
    const rating = await newEvaluator(own, { type: "human", code_config: null });
    const [slug, id] = [String(rating["evaluator_slug"]), String(rating["id"])];
    const values = [2, 5, 4];
    for (const [index, span] of results.entries()) {
      const score = { log_id: span["unique_id"], evaluator_id: id, numerical_value: values[index] };
      expect((await own.post("/api/scores/", score)).status).toBe(201);
    }
    await expect
      .poll(async () => {
        const answer = await timeseries(own, `${day}&interval=6h&metrics=scores__${slug},number_of_requests`);
        return answer.series[0]?.values[`scores__${slug}`];
      })
      .toEqual([3.5, null, 4, null]);
    const verdict = await newEvaluator(own, { type: "human", score_value_type: "boolean", code_config: null });
    for (const [index, span] of results.entries()) {
      const score = { log_id: span["unique_id"], evaluator_id: verdict["id"], boolean_value: index > 0 };
      expect((await own.post("/api/scores/", score)).status).toBe(201);
    }
    const share = `scores__${String(verdict["evaluator_slug"])}`;
    await expect
      .poll(async () => (await timeseries(own, `${day}&interval=6h&metrics=${share}`)).series[0]?.values[share])
      .toEqual([0.5, null, 1, null]);
    const byId = await timeseries(own, `${day}&interval=1d&metrics=scores__${id}`);
    expect(byId.series[0]?.totals[`scores__${id}`]).toBeCloseTo(11 / 3);
    expect((await timeseries(own, `${day}&metrics=scores__nobody`)).series[0]?.totals).toEqual({
      scores__nobody: null,
    });
  });

  test.each([
    ["interval=2h", "interval"],
    ["timezone=Mars/Olympus", "timezone"],
    ["timezone=%2B01:00", "timezone"],
    ["metrics=total_cost,nothing", "metrics"],
    ["metrics=constructor", "metrics"],
    ["metrics=scores__", "metrics"],
    ["group_by=nothing", "group_by"],
    ["group_by=model,nothing", "group_by"],
    ["group_by=nothing,metadata__plan", "group_by"],
    ["group_by=model,status,environment", "group_by"],
    ["group_by=model,model", "group_by"],
    ["group_by=metadata___secret", "group_by"],
    ["group_by=metadata__", "group_by"],
    ["top=0", "top"],
    ["top=51", "top"],
    ["interval=1m&start_time=2026-01-01&end_time=2026-03-01", "interval"],
    ["interval=1m&start_time=1900-01-01&end_time=2262-01-01", "interval"],
    ["interval=1m&start_time=2026-03-01T00:00:00Z&end_time=2026-03-01T20:00:00Z&group_by=model&top=50", "top"],
    [
      `${day}&interval=1m&group_by=model&top=1&metrics=${Array.from({ length: 20 }, (_, n) => `scores__${n}`).join(",")}`,
      "metrics",
    ],
    ["start_time=2026-03-02&end_time=2026-03-01", "start_time"],
    ["start_time=1900-01-01&end_time=2262-01-01", "start_time"],
  ])("%s is 400 naming what to change", async (query, name) => {
    const answer = await prod.post(`/api/request-logs/timeseries/?${query}`, {});
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([name]);
  });
});

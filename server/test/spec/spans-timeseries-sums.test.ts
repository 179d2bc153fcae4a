import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bucketIntervals } from "../../src/domain/time-buckets.ts";
import { always, bodyOf, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
beforeAll(async () => void (app = await startTestApp()));
afterAll(() => app.stop());

type Series = { group: Row; values: Record<string, Array<number | null>>; totals: Record<string, number | null> };
type Answer = { series: Series[]; other: Omit<Series, "group"> | null };

async function timeseries(client: TestClient, query: string, body: unknown): Promise<Answer> {
  const answer = await client.post(`/api/request-logs/timeseries/?${query}`, body);
  if (answer.status !== 200) throw new Error(`timeseries answered ${answer.status}: ${answer.text}`);
  return answer.json as Answer;
}

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "America/Sao_Paulo",
  "Asia/Kathmandu",
] as const;

// Around the clock changes of Berlin, New York and Lord Howe (by half an hour), a leap day and ends of months.
const moments = [
  "2028-02-29",
  "2026-03-08",
  "2026-03-29",
  "2026-04-04",
  "2026-10-03",
  "2026-10-25",
  "2026-11-01",
  "2026-12-31",
].map(Date.parse);

const anySpan = fc.record(
  {
    moment: fc.constantFrom(...moments),
    second: fc.integer({ min: 0, max: 2 * 86_400 }),
    trace: fc.constantFrom("", "t1", "t2", "t3"),
    parent: fc.constantFrom("", "s0", "s1", "s2"),
    log_type: fc.constantFrom("chat", "agent", "tool"),
    model: fc.constantFrom("m1", "m2", "gpt-4o", ""),
    cost: fc.option(
      fc.integer({ min: 0, max: 5_000_000 }).map((micro) => micro / 1e6),
      { nil: undefined },
    ),
    tokens: fc.integer({ min: 0, max: 9_000 }),
    latency: fc.integer({ min: 1, max: 90_000 }).map((ms) => ms / 1000),
    customer: fc.constantFrom("", "ann", "bob"),
    plan: fc.constantFrom(undefined, "pro", "free"),
    status_code: fc.constantFrom(200, 200, 500),
  },
  { noNullPrototype: true },
);

const sum = (values: ReadonlyArray<number | null | undefined>) =>
  Number(values.reduce<number>((all, value) => all + (value ?? 0), 0).toFixed(9));

test("sums over the buckets equal the summary and groups, for any spans, filter, interval and time zone", async () => {
  const { prod } = await app.newOrganization();
  const spans = fc.sample(anySpan, 400);
  await storeSpans(
    prod,
    spans.map(({ moment, second, trace, parent, tokens, customer, plan, ...span }, index) => ({
      ...span,
      timestamp: new Date(moment + second * 1000).toISOString(),
      start_time: new Date(moment + second * 1000 - 1000).toISOString(),
      ...(trace !== "" && { trace_unique_id: trace, span_unique_id: `s${index}`, span_parent_id: parent }),
      prompt_tokens: tokens,
      completion_tokens: 1,
      customer_identifier: customer,
      ...(plan !== undefined && { metadata: { plan } }),
    })),
  );
  const read = fc.record({
    interval: fc.constantFrom(...bucketIntervals),
    timezone: fc.constantFrom(...zones),
    group: fc.constantFrom(
      "model",
      "customer_identifier",
      "log_type",
      "status",
      "metadata__plan",
      "environment",
      "model,metadata__plan",
    ),
    top: fc.constantFrom(1, 2, 5),
    moment: fc.constantFrom(...moments),
    // More minutes of six series would exceed the number of points of a response.
    hours: fc.integer({ min: 0, max: 23 }),
    filter: fc.constantFrom(
      {},
      { model: { operator: "", value: ["m1"] } },
      { customer_identifier: { operator: "", value: ["ann"] } },
      { cost: { operator: "gt", value: [1] } },
      { metadata__plan: { operator: "not", value: ["pro"] } },
    ),
  });
  const sums = [
    "number_of_requests",
    "error_count",
    "total_cost",
    "total_tokens",
    "total_prompt_tokens",
    "total_completion_tokens",
    "unpriced_count",
  ];
  // Those of buckets do not add up, but over the whole window there is one value.
  const whole = ["number_of_customers", "p50_latency", "p99_latency", "p95_tokens_per_second"];
  await fc.assert(
    fc.asyncProperty(read, async ({ interval, timezone, group, top, moment, hours, filter }) => {
      const length = interval === "1m" ? Math.min(hours, 18) : hours;
      const window = `start_time=${new Date(moment).toISOString()}&end_time=${new Date(moment + length * 3_600_000).toISOString()}`;
      const body = { filters: filter };
      const query = `${window}&interval=${interval}&timezone=${timezone}`;
      const [summary, plain, grouped] = await Promise.all([
        prod.post(`/api/request-logs/summary/?${window}`, body),
        timeseries(prod, `${query}&metrics=${[...sums, ...whole].join(",")}`, body),
        timeseries(prod, `${query}&metrics=${sums.join(",")}&group_by=${group}&top=${top}`, body),
      ]);
      const expected = sums.map((name) => sum([Number(bodyOf(summary)[name])]));
      const all = [...grouped.series, ...(grouped.other === null ? [] : [grouped.other])];
      expect(sums.map((name) => sum(plain.series[0]?.values[name] ?? []))).toEqual(expected);
      expect(sums.map((name) => sum([plain.series[0]?.totals[name]]))).toEqual(expected);
      expect(sums.map((name) => sum(all.flatMap(({ values }) => values[name] ?? [])))).toEqual(expected);
      expect(sums.map((name) => sum(all.map(({ totals }) => totals[name])))).toEqual(expected);
      expect(whole.map((name) => plain.series[0]?.totals[name])).toEqual(whole.map((name) => bodyOf(summary)[name]));
      const groups = bodyOf(await prod.post(`/api/request-logs/groups/?${window}&group_by=${group}`, body));
      for (const row of groups["results"] as Row[]) {
        const own = grouped.series.find((series) => group.split(",").every((name) => series.group[name] === row[name]));
        if (own === undefined) continue;
        expect(sums.map((name) => sum([own.totals[name]]))).toEqual(sums.map((name) => sum([Number(row[name])])));
      }
    }),
    { numRuns: 40 },
  );
  expect(bodyOf(await prod.post(`/api/request-logs/summary/?${always}`))["number_of_requests"]).toBe(spans.length);
});

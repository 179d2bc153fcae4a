import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bucketIntervals } from "../../src/domain/time-buckets.ts";
import { storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { listTraces } from "../support/traces.ts";

let app: TestApp;
beforeAll(async () => void (app = await startTestApp()));
afterAll(() => app.stop());

type Series = { values: Record<string, Array<number | null>>; totals: Record<string, number | null> };
type Answer = { series: Series[]; other: Series | null };

async function timeseries(query: string, body: unknown): Promise<Answer> {
  const answer = await app.prod.post(`/api/traces/timeseries/?${query}`, body);
  if (answer.status !== 200) throw new Error(`timeseries answered ${answer.status}: ${answer.text}`);
  return answer.json as Answer;
}

test("sums over the buckets equal those of the list, for any traces, filter, interval and time zone", async () => {
  const { prod } = app;
  // A leap day, clock changes, including Lord Howe's half hour, and ends of months.
  const moments = ["2028-02-29", "2026-03-29", "2026-04-04", "2026-10-03", "2026-11-01", "2026-12-31"].map(Date.parse);
  const anySpan = fc.record({
    moment: fc.constantFrom(...moments),
    second: fc.integer({ min: 0, max: 2 * 86_400 }),
    trace: fc.integer({ min: 0, max: 80 }),
    log_type: fc.constantFrom("chat", "agent", "tool"),
    model: fc.constantFrom("m1", "gpt-4o", ""),
    micros: fc.option(fc.integer({ min: 0, max: 5_000_000 }), { nil: null }),
    tokens: fc.integer({ min: 0, max: 9_000 }),
    customer_identifier: fc.constantFrom("", "ann", "bob", 'a "b", \n', "\u202eאב"),
    status_code: fc.constantFrom(200, 200, 500),
  });
  await storeSpans(
    prod,
    fc.sample(anySpan, 400).map(({ moment, second, trace, micros, tokens, ...span }, index) => ({
      ...span,
      ...(micros !== null && { cost: micros / 1e6 }),
      timestamp: new Date(moment + second * 1000).toISOString(),
      start_time: new Date(moment + second * 1000 - 500).toISOString(),
      trace_unique_id: `${moment}-${trace}`,
      span_unique_id: `s${index}`,
      span_parent_id: index % 3 === 0 ? `s${index - 1}` : "",
      metadata: index % 4 === 0 ? {} : { plan: `p${index % 3}` },
      prompt_tokens: tokens,
      completion_tokens: 1,
    })),
  );
  const sums = ["span_count", "llm_call_count", "error_count", "total_cost", "total_tokens", "unpriced_count"] as const;
  const sum = (values: readonly unknown[]) =>
    Number(values.reduce<number>((all, value) => all + Number(value ?? 0), 0).toFixed(9));
  const read = fc.record({
    interval: fc.constantFrom(...bucketIntervals),
    timezone: fc.constantFrom(
      "UTC",
      "Europe/Berlin",
      "America/New_York",
      "Asia/Kolkata",
      "Asia/Kathmandu",
      "Australia/Lord_Howe",
    ),
    group: fc.constantFrom("model", "customer_identifier", "environment", "name", "metadata__plan"),
    top: fc.constantFrom(1, 2, 5),
    moment: fc.constantFrom(...moments),
    hours: fc.integer({ min: 0, max: 24 }),
    filters: fc.constantFrom(
      {},
      { customer_identifier: { operator: "", value: ["ann"] } },
      { total_cost: { operator: "gt", value: [1] } },
      { status_code: { operator: "not", value: [500] } },
    ),
  });
  await fc.assert(
    fc.asyncProperty(read, async ({ interval, timezone, group, top, moment, hours, filters }) => {
      // More minutes of six series would exceed the number of points of a response.
      const length = interval === "1m" ? Math.min(hours, 18) : hours;
      const end = new Date(moment + length * 3_600_000).toISOString();
      const window = `start_time=${new Date(moment).toISOString()}&end_time=${end}`;
      const query = `${window}&interval=${interval}&timezone=${timezone}&metrics=number_of_traces,${sums.join(",")}`;
      const [{ count, results }, plain, grouped] = await Promise.all([
        listTraces(prod, filters, `${window}&page_size=1000`),
        timeseries(query, { filters }),
        timeseries(`${query}&group_by=${group}&top=${top}`, { filters }),
      ]);
      const expected = [count, ...sums.map((name) => sum(results.map((row) => row[name])))];
      const all = [...grouped.series, ...(grouped.other === null ? [] : [grouped.other])];
      const names = ["number_of_traces", ...sums];
      expect(names.map((name) => sum(plain.series[0]?.values[name] ?? []))).toEqual(expected);
      expect(names.map((name) => sum([plain.series[0]?.totals[name]]))).toEqual(expected);
      expect(names.map((name) => sum(all.flatMap(({ values }) => values[name] ?? [])))).toEqual(expected);
      expect(names.map((name) => sum(all.map(({ totals }) => totals[name])))).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});

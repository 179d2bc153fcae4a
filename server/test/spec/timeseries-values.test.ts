import { afterAll, beforeAll, expect, test } from "vitest";
import { bodyOf, listSpans, settle, sortedValues, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";

/** Series of unusual values and windows. */

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

test("of 100,000 values, the largest have a series and all others are exact, percentiles too", async () => {
  const { prod } = await app.newOrganization();
  const count = 100_000;
  const startMs = Date.parse("2026-03-01T00:00:00Z");
  const spans = Array.from({ length: count }, (_, index) => ({
    timestamp: new Date(startMs + (index % 7_200) * 1_000).toISOString(),
    log_type: "chat",
    session_identifier: `session ${index}`,
    cost: (index + 1) / 1e6,
    latency: ((index * 7) % 1_000) / 1_000,
  }));
  for (let start = 0; start < count; start += 500) {
    const answer = await prod.post("/api/request-logs/bulk/", { logs: spans.slice(start, start + 500) });
    expect(answer.status).toBe(201);
  }
  await settle(prod);
  const query = "start_time=2026-03-01T00:00:00Z&end_time=2026-03-01T01:59:59.999Z";
  const metrics = "total_cost,number_of_requests,p50_latency";
  const { series, other } = await timeseries(
    prod,
    `${query}&interval=1h&group_by=session_identifier&top=3&metrics=${metrics}`,
  );
  expect(series.map(({ group, totals }) => [group["session_identifier"], totals["total_cost"]])).toEqual([
    ["session 99999", 0.1],
    ["session 99998", 0.099999],
    ["session 99997", 0.099998],
  ]);
  const rest = spans.slice(0, -3);
  const medianOf = (values: readonly number[]): number => {
    const sorted = values.toSorted((a, b) => a - b);
    const middle = (sorted.length - 1) / 2;
    return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
  };
  const figuresOf = (some: typeof spans) => ({
    total_cost: Math.round(some.reduce((all, { cost }) => all + cost * 1e6, 0)) / 1e6,
    number_of_requests: some.length,
    p50_latency: Number(medianOf(some.map(({ latency }) => latency)).toFixed(9)),
  });
  // A sum of 100,000 doubles differs in the last digits from that of whole numbers.
  const rounded = (values: Row) => ({ ...values, total_cost: Number(Number(values["total_cost"]).toFixed(9)) });
  expect(rounded(other?.totals ?? {})).toEqual(figuresOf(rest));
  for (const [index, hour] of ["T00:", "T01:"].entries()) {
    const values = Object.entries(other?.values ?? {}).map(([name, all]) => [name, all[index]]);
    const ofHour = figuresOf(rest.filter(({ timestamp }) => timestamp.includes(hour)));
    expect(rounded(Object.fromEntries(values) as Row)).toEqual(ofHour);
  }
  const groups = await prod.post(`/api/request-logs/groups/?${query}&group_by=session_identifier&page_size=1`, {});
  expect((groups.json as ListAnswer).count).toBe(count);
}, 120_000);

test("groups have any text as their value, which filters find again", async () => {
  const { prod } = await app.newOrganization();
  const texts = [
    "nul \0 inside",
    `"double" 'single' \`back\``,
    "line\nbreak\r\n",
    "\u202e\u05d0\u05d1 right to left",
    "tab\tand, comma; semicolon",
    "{group_0_key:String}",
    "%s %d \\' OR 1 = 1 --",
    "=cmd|' /C calc'!A0",
    "\ud83d\ude00 e\u0301",
    "[1, 'a']",
  ];
  const timestamp = "2026-03-01T00:30:00Z";
  await storeSpans(
    prod,
    texts.map((text) => ({ timestamp, log_type: "chat", span_name: text, metadata: { "a key": text }, cost: 1 })),
  );
  // NUL is not stored in any text.
  const expected = texts.map((text) => text.replace("\0", "\ufffd")).toSorted();
  const query = "start_time=2026-03-01T00:00:00Z&end_time=2026-03-01T00:59:59Z";
  const key = encodeURIComponent("metadata__a key");
  for (const [groupBy, names] of [
    ["span_name", ["span_name"]],
    [key, ["metadata__a key"]],
    [`span_name,${key}`, ["span_name", "metadata__a key"]],
  ] as const) {
    const { series, other } = await timeseries(
      prod,
      `${query}&interval=1h&group_by=${groupBy}&top=20&metrics=number_of_requests`,
    );
    expect(other).toBeNull();
    for (const name of names) expect(series.map(({ group }) => String(group[name])).toSorted()).toEqual(expected);
    for (const { group, totals } of series) {
      expect(totals["number_of_requests"]).toBe(1);
      const filters = Object.fromEntries(names.map((name) => [name, { value: [group[name]] }]));
      expect([group, (await listSpans(prod, filters)).count]).toEqual([group, 1]);
    }
  }
  const groups = bodyOf(await prod.post(`/api/request-logs/groups/?${query}&group_by=${key}`, {}))["results"] as Row[];
  expect(sortedValues(groups, "metadata__a key")).toEqual(expected);
  const fields = `fields=span_name,${key}&limit=20`;
  const { facets } = bodyOf(await prod.post(`/api/request-logs/facets/?${query}&${fields}`, {})) as {
    facets: Record<string, Row[]>;
  };
  for (const values of Object.values(facets)) expect(sortedValues(values, "value")).toEqual(expected);
  // With fewer series than values, the same texts distinguish them from the others.
  const few = await timeseries(
    prod,
    `${query}&interval=1h&group_by=span_name,${key}&top=4&metrics=number_of_requests,total_cost`,
  );
  expect(few.series.map(({ values }) => values["total_cost"])).toEqual([[1], [1], [1], [1]]);
  expect(few.other?.totals).toEqual({ number_of_requests: 6, total_cost: 6 });
});

test.each([
  ["the last hour", "", "1m", 60],
  ["five hours", "start_time=2026-03-01T00:00:00Z&end_time=2026-03-01T04:59:59Z", "5m", 60],
  ["a day", "start_time=2026-03-01T00:00:00Z&end_time=2026-03-01T23:59:59Z", "15m", 96],
  ["three days", "start_time=2026-03-01T00:00:00Z&end_time=2026-03-03T23:59:59Z", "1h", 72],
  ["two weeks", "start_time=2026-03-01T00:00:00Z&end_time=2026-03-14T23:59:59Z", "6h", 56],
  ["two months", "start_time=2026-03-01T00:00:00Z&end_time=2026-04-30T23:59:59Z", "1d", 61],
  ["a year", "start_time=2024-01-01T00:00:00Z&end_time=2024-12-29T23:59:59Z", "1w", 52],
  ["five years", "start_time=2021-01-01T00:00:00Z&end_time=2025-12-31T23:59:59Z", "1mo", 60],
])("auto divides %s into about 60 buckets, and is the default", async (_name, window, interval, count) => {
  const { prod } = app;
  const answer = await timeseries(prod, `${window}&interval=auto&metrics=number_of_requests`);
  // The last hour begins within a minute.
  expect([answer.interval, answer.buckets.length - (window === "" ? 1 : 0)]).toEqual([interval, count]);
  expect((await timeseries(prod, `${window}&metrics=number_of_requests`)).interval).toBe(interval);
});

test("days, ISO weeks and months begin in the time zone, also when clocks change", async () => {
  const { prod } = await app.newOrganization();
  const times = [
    "28T22:59:59.999999999Z",
    "28T23:00:00Z",
    "29T21:59:59Z",
    "29T22:00:00Z",
    "31T21:59:59Z",
    "31T22:00:00Z",
  ];
  await storeSpans(
    prod,
    times.map((time) => ({ timestamp: `2026-03-${time}`, log_type: "chat" })),
  );
  const window = "start_time=2026-03-28T12:00:00Z&end_time=2026-04-01T12:00:00Z";
  const expected: Array<[string, Record<string, number>]> = [
    ["1d&timezone=Europe/Berlin", { "03-27T23": 1, "03-28T23": 2, "03-29T22": 1, "03-30T22": 1, "03-31T22": 1 }],
    ["1w&timezone=Europe/Berlin", { "03-22T23": 3, "03-29T22": 3 }],
    ["1mo&timezone=Europe/Berlin", { "02-28T23": 5, "03-31T22": 1 }],
    ["1d&timezone=UTC", { "03-28T00": 2, "03-29T00": 2, "03-30T00": 0, "03-31T00": 2, "04-01T00": 0 }],
    ["1w", { "03-23T00": 4, "03-30T00": 2 }],
    ["1mo", { "03-01T00": 6, "04-01T00": 0 }],
    [
      "1d&timezone=Asia/Kolkata",
      { "03-27T18:30": 0, "03-28T18:30": 2, "03-29T18:30": 2, "03-30T18:30": 0, "03-31T18:30": 2 },
    ],
    ["1mo&timezone=America/New_York", { "03-01T05": 6, "04-01T04": 0 }],
  ];
  for (const [interval, counts] of expected) {
    const { buckets, series } = await timeseries(prod, `${window}&interval=${interval}&metrics=number_of_requests`);
    const starts = Object.keys(counts).map((start) => new Date(`2026-${start}${start.includes(":") ? "" : ":00"}Z`));
    expect([interval, buckets.map((start) => Date.parse(start))]).toEqual([interval, starts.map(Number)]);
    expect([interval, series[0]?.values["number_of_requests"]]).toEqual([interval, Object.values(counts)]);
  }
});

test("a window that crosses the epoch has its buckets on both sides", async () => {
  const { prod } = await app.newOrganization();
  const times = [
    "1969-12-31T22:59:59.9Z",
    "1969-12-31T23:59:59.999999999Z",
    "1970-01-01T00:00:00Z",
    "1970-01-01T01:30:00Z",
  ];
  await storeSpans(
    prod,
    times.map((timestamp) => ({ timestamp, start_time: timestamp, log_type: "chat", cost: 1 })),
  );
  // Waiting for spans leaves marker spans there.
  const ours = { filters: { log_type: "chat" } };
  const window = "start_time=1969-12-31T22:00:00Z&end_time=1970-01-01T01:59:59Z";
  const hours = await timeseries(prod, `${window}&interval=1h&metrics=number_of_requests`, ours);
  expect(hours.buckets).toEqual([
    "1969-12-31T22:00:00Z",
    "1969-12-31T23:00:00Z",
    "1970-01-01T00:00:00Z",
    "1970-01-01T01:00:00Z",
  ]);
  expect(hours.series[0]?.values["number_of_requests"]).toEqual([1, 1, 1, 1]);
  const days = await timeseries(prod, `${window}&interval=1d&timezone=Europe/Berlin&metrics=number_of_requests`, ours);
  expect([days.buckets, days.series[0]?.values["number_of_requests"]]).toEqual([
    ["1969-12-30T23:00:00Z", "1969-12-31T23:00:00Z"],
    [1, 3],
  ]);
  const summary = bodyOf(await prod.post(`/api/request-logs/summary/?${window}`, ours));
  expect(summary["number_of_requests"]).toBe(4);
});

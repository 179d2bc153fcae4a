import { afterAll, beforeAll, expect, test } from "vitest";
import { createSpan, listSpans, roundTrip, settle, storeSpans, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row } from "../support/test-client.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const chat = { log_type: "chat" };
const hourMs = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();

test.each<[string, Row, Row]>([
  [
    "an end before the start gives no latency",
    { start_time: "2026-01-01T00:00:10Z", timestamp: "2026-01-01T00:00:00Z" },
    { latency: null, warnings: "timestamp lies before start_time" },
  ],
  [
    "an end before the start, with warnings and a latency of the sender's own",
    { start_time: "2026-01-01T00:00:10Z", timestamp: "2026-01-01T00:00:00Z", latency: 2, warnings: { odd: true } },
    { latency: 2, warnings: { odd: true } },
  ],
  [
    "an end a nanosecond before",
    { start_time: "2026-01-01T00:00:00.000000001Z", timestamp: "2026-01-01T00:00:00Z" },
    { latency: null },
  ],
  ["an end at the start", { start_time: "2026-01-01T00:00:00Z", timestamp: "2026-01-01T00:00:00Z" }, { latency: 0 }],
  [
    "40 ms",
    { start_time: "2026-01-01T00:00:00Z", timestamp: "2026-01-01T00:00:00.040Z" },
    { latency: 0.04, warnings: null },
  ],
  ["a whole day", { start_time: "2026-01-01T00:00:00Z", timestamp: "2026-01-02T00:00:00Z" }, { latency: 86_400 }],
  [
    "a negative latency",
    { latency: -3, timestamp: "2026-01-01T00:00:00Z" },
    { latency: null, start_time: "2026-01-01T00:00:00.000Z" },
  ],
  ["zero seconds since 1970", { start_time: 0, timestamp: 0 }, { timestamp: "1970-01-01T00:00:00.000Z", latency: 0 }],
  ["before 1970", { timestamp: "1969-12-31T23:59:59.999999999Z" }, { timestamp: "1969-12-31T23:59:59.999999999Z" }],
  ["1900", { timestamp: "1900-01-01T00:00:00Z" }, { timestamp: "1900-01-01T00:00:00.000Z" }],
  [
    "the last instant",
    { timestamp: "2262-04-11T23:47:16.854775807Z" },
    { timestamp: "2262-04-11T23:47:16.854775807Z" },
  ],
  [
    "digits of nanoseconds in a text",
    { timestamp: "1767225600123456789" },
    { timestamp: "2026-01-01T00:00:00.123456789Z" },
  ],
])("%s: times are kept as sent, a latency is never negative", async (_name, times, expected) => {
  const span = await roundTrip(app.prod, { ...chat, ...times });
  expect(span).toMatchObject(expected);
});

test.each([
  "1899-12-31T23:59:59Z",
  "2262-04-12",
  "9999-12-31",
  "0000-00-00",
  -1e19,
  1e20,
  "1e3",
  "12:00",
  "2026-02-30",
  "∞",
])("%j is not a valid time: it is refused by name", async (timestamp) => {
  const answer = await app.prod.post("/api/request-logs/", { timestamp });
  expect(answer.status).toBe(422);
  expect(answer.json).toMatchObject({ errors: { timestamp: [expect.any(String)] } });
});

test("times that differ in the last nanosecond are in order, in both directions and over pages", async () => {
  const { prod } = await app.newOrganization();
  const order = [5, 3, 9, 0, 7, 1, 8, 2, 6, 4];
  await storeSpans(
    prod,
    order.map((n) => ({ ...chat, custom_identifier: `${n}`, timestamp: `2026-01-01T00:00:00.12345678${n}Z` })),
  );
  for (const [sort, expected] of [
    ["timestamp", "0123456789"],
    ["-timestamp", "9876543210"],
  ] as const) {
    let seen = "";
    for (let page = 1; page <= 4; page += 1) {
      const { results } = await listSpans(prod, chat, `sort_by=${sort}&page=${page}&page_size=3`);
      seen += results.map((row) => row["custom_identifier"]).join("");
    }
    expect(seen).toBe(expected);
  }
  const bounds = "start_time=2026-01-01T00:00:00.123456783Z&end_time=2026-01-01T00:00:00.123456785Z";
  const answer = await prod.post(`/api/request-logs/list/?${bounds}`, {});
  expect(answer.json).toMatchObject({ count: 3 });
});

test("spans of 1970 and of next year are not in the last hour, and are found by their own window", async () => {
  const { prod } = await app.newOrganization();
  const now = Date.now();
  const times = { past: iso(0), last: iso(now - 60_000), soon: iso(now + hourMs), next: iso(now + 365 * 24 * hourMs) };
  await storeSpans(
    prod,
    Object.entries(times).map(([name, timestamp]) => ({ ...chat, custom_identifier: name, timestamp, cost: 1 })),
  );
  // Months are stored one after another: the marker of settle may appear before them.
  await prod.waitForSpans(4, chat);
  const lastHour = await prod.post("/api/request-logs/list/", { filters: chat });
  expect(lastHour.json).toMatchObject({ count: 1, results: [{ custom_identifier: "last" }] });
  expect((await prod.post("/api/request-logs/summary/", { filters: chat })).json).toMatchObject({
    number_of_requests: 1,
    total_cost: 1,
  });
  for (const [name, timestamp] of Object.entries(times)) {
    const at = encodeURIComponent(timestamp);
    const found = await prod.post(`/api/request-logs/list/?start_time=${at}&end_time=${at}`, { filters: chat });
    expect(found.json).toMatchObject({ count: 1, results: [{ custom_identifier: name }] });
  }
});

test("times of every year in one request are stored completely as one batch", async () => {
  const { prod } = await app.newOrganization();
  const years = Array.from({ length: 362 }, (_, i) => 1900 + i);
  await storeSpans(
    prod,
    years.map((year) => ({ ...chat, timestamp: `${year}-06-15T12:00:00Z`, cost: 1 })),
  );
  // The store takes a while for so many months, one after another.
  await prod.waitForSpans(years.length, chat);
  expect(
    (await prod.post("/api/request-logs/summary/?start_time=1900-01-01&end_time=2262-01-01", { filters: chat })).json,
  ).toMatchObject({ number_of_requests: 362, total_cost: 362 });
  expect(await summarize(prod, chat)).toMatchObject({ number_of_requests: 282 });
});

test("a span whose clock was set back and forth between versions is one span", async () => {
  const { prod } = await app.newOrganization();
  const ids = { ...chat, trace_unique_id: "t", span_unique_id: "s", output: "x" };
  for (const timestamp of [
    "2026-01-01",
    "1970-01-01",
    "2200-01-01",
    "2026-01-01T00:00:00.000000001Z",
    "1950-01-01",
    "2026-01-02",
  ]) {
    await createSpan(prod, { ...ids, timestamp });
  }
  await settle(prod);
  const everything = await prod.post("/api/request-logs/list/?start_time=1900-01-01&end_time=2262-01-01", {
    filters: chat,
  });
  expect(everything.json).toMatchObject({ count: 1, results: [{ timestamp: "2026-01-02T00:00:00.000Z" }] });
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { always, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";

/** A truncated file must not look like a complete one. */

let clickHouse: TestClickHouse;
let app: TestApp;
beforeAll(async () => {
  clickHouse = await startTestClickHouse();
  app = await startTestApp({ SPANWAY_SPANS_URL: clickHouse.url });
  await storeSpans(
    app.prod,
    Array.from({ length: 200 }, (_, n) => ({
      output: `${n} `.repeat(500),
      trace_unique_id: `t${n}`,
      span_unique_id: "s",
      customer_identifier: `customer ${n} `.repeat(15),
    })),
  );
}, 60_000);
afterAll(async () => {
  await app.stop();
  await clickHouse.stop();
});

const path = `/api/request-logs/export/?${always}`;
const formats = ["jsonl", "csv", "parquet"];

test.each(formats)("a whole export of a ClickHouse server as %s", async (format) => {
  const answer = await app.prod.post(`${path}&format=${format}`, {});
  expect(answer.status).toBe(200);
  expect(answer.text.length).toBeGreaterThan(1_000);
});

test.each(formats.flatMap((format) => (["exception", "reset"] as const).map((fault) => [format, fault] as const)))(
  "an export as %s that the store aborts (%s) closes the connection",
  async (format, fault) => {
    for (const coding of ["identity", "gzip"]) {
      await clickHouse.setFaults({ breakStreams: fault });
      const exported = app.prod.post(`${path}&format=${format}`, {}, { "accept-encoding": coding });
      await expect(exported).rejects.toThrow(/terminated|fetch failed/);
      await clickHouse.setFaults({});
    }
    expect((await app.prod.post(`${path}&format=${format}`, {})).status).toBe(200);
  },
);

test.each(
  ["/api/traces/export/", "/api/users/export/"].flatMap((route) =>
    ["jsonl", "csv"].flatMap((format) =>
      (["exception", "reset"] as const).map((fault) => [route, format, fault] as const),
    ),
  ),
)("so does %s as %s (%s)", async (route, format, fault) => {
  const exportSpans = () => app.prod.post(`${route}?${always}&format=${format}`, {});
  await clickHouse.setFaults({ breakStreams: fault });
  await expect(exportSpans()).rejects.toThrow(/terminated|fetch failed/);
  await clickHouse.setFaults({});
  expect((await exportSpans()).status).toBe(200);
});

test.each(formats)("an export as %s without a store is 503, and not a file", async (format) => {
  await clickHouse.setFaults({ refuse: "503" });
  const answer = await app.prod.post(`${path}&format=${format}`, {});
  await clickHouse.setFaults({});
  expect(answer.status).toBe(503);
  expect(answer.headers.get("content-disposition")).toBeNull();
  expect(answer.headers.get("retry-after")).not.toBeNull();
});

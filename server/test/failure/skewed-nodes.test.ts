import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { bodyOf, settle } from "../support/spans.ts";
import { quickPasswords, startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row } from "../support/test-client.ts";

const minuteMs = 60_000;
const second = "a secret that all nodes know";

describe.skipIf(postgresUrl === undefined)(`N8: nodes whose clocks differ${postgresSkipReason}`, () => {
  let clickhouse: TestClickHouse;
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let [ahead, behind] = [] as unknown as [TestApp, TestApp];
  const start = (skewMs: number) =>
    startTestApp(
      { SPANWAY_SPANS_URL: clickhouse.url, SPANWAY_CONTROL_URL: database.url.reveal(), SPANWAY_SECRET_KEY: second },
      quickPasswords,
      () => Date.now() + skewMs,
    );
  beforeAll(async () => {
    [clickhouse, database] = [await startTestClickHouse(), await createPostgresDatabase()];
    [ahead, behind] = [await start(4 * minuteMs), await start(-4 * minuteMs)];
  });
  afterAll(async () => {
    await Promise.all([ahead, behind].map((app) => app.stop()));
    await clickhouse.stop();
    await database.drop();
  });

  test("report it in a metric, and do no upkeep for others", async () => {
    for (const [app, seconds] of [
      [ahead, 240],
      [behind, -240],
    ] as const) {
      const { text } = await app.prod.get("/metrics");
      expect(Number(/^spanway_clock_skew_seconds (\S+)$/m.exec(text)?.[1])).toBeCloseTo(seconds, 0);
      expect(text).toContain("\nspanway_leader 0\n");
    }
  });

  test("keep the version received last, whichever node received it", async () => {
    const ids = { trace_unique_id: randomUUID(), span_unique_id: "s", timestamp: new Date().toISOString() };
    const orders = [
      [ahead, behind],
      [behind, ahead],
    ] as const;
    for (const [n, [first, last]] of orders.entries()) {
      const span = { ...ids, span_unique_id: `s${n}`, log_type: "chat", input: "i" };
      expect((await first.prod.post("/api/request-logs/", { ...span, output: "first" })).status).toBe(201);
      await settle(first.prod);
      const sent = await last.prod.post("/api/request-logs/", { ...span, output: "last" });
      await settle(last.prod);
      const path = `/api/request-logs/${String(bodyOf(sent)["unique_id"])}/`;
      for (const app of [ahead, behind])
        await expect.poll(async () => bodyOf(await app.prod.get(path))["output"], { timeout: 10_000 }).toBe("last");
    }
  });

  test("give a span without a time the time of its receipt, and find it in a window of minutes", async () => {
    for (const app of [ahead, behind]) {
      const name = randomUUID();
      const sent = await app.prod.post("/api/request-logs/", { custom_identifier: name });
      await settle(app.prod);
      const row = bodyOf(await app.prod.get(`/api/request-logs/${String(bodyOf(sent)["unique_id"])}/`));
      expect(Math.abs(Date.parse(String(row["timestamp"])) - Date.now())).toBeLessThan(30_000);
      for (const reader of [ahead, behind]) {
        const since = encodeURIComponent(new Date(Date.now() - minuteMs).toISOString());
        const path = `/api/request-logs/list/?start_time=${since}`;
        const listed = await reader.prod.post(path, { filters: { custom_identifier: name } });
        expect((listed.json as { results: Row[] }).results).toHaveLength(1);
      }
    }
  });

  test("expire a key at the same moment", async () => {
    const admin = await ahead.login();
    const made = async (inMs: number) =>
      String(
        bodyOf(
          await admin.post("/api/api-keys/", {
            name: randomUUID(),
            environment: "prod",
            expires_at: new Date(Date.now() + inMs).toISOString(),
          }),
        )["key"],
      );
    const [ends, stays] = [await made(3_000), await made(2 * minuteMs)];
    const statuses = (key: string) =>
      Promise.all(
        [ahead, behind].map(async ({ url }) => {
          const answer = await fetch(new URL("/api/webhooks/", url), { headers: { authorization: `Bearer ${key}` } });
          return answer.status;
        }),
      );
    expect(await statuses(ends)).toEqual([200, 200]);
    await expect.poll(() => statuses(ends), { timeout: 10_000 }).toEqual([401, 401]);
    expect(await statuses(stays)).toEqual([200, 200]);
  });

  test("a node that is more than 5 minutes off does not start, and states the skew", async () => {
    await expect(start(6 * minuteMs)).rejects.toThrow(/clock of this machine is 3\d\d s ahead of the control store's/);
  });
});

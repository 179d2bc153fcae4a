import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  evaluated,
  historyOf,
  minuteMs,
  movableClock,
  newAlert,
  newestEndMs,
  newPath,
  nextMinute,
  received,
  retrieveAlert,
  send,
  spansOf,
  startAlertApp,
  type AlertApp,
} from "../support/alerts.ts";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { eventually } from "../support/evaluation.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { newDataDir, startServerProcess } from "../support/server-process.ts";

/** Additions E: alerts while stores are down, over restarts, and on several nodes. */

let receiver: Receiver;
beforeAll(async () => void (receiver = await startReceiver()));
afterAll(() => receiver.close());

describe("with a span store that", () => {
  let clickHouse: TestClickHouse;
  let app: AlertApp;
  beforeAll(async () => {
    clickHouse = await startTestClickHouse();
    app = await startAlertApp({ SPANWAY_SPANS_URL: clickHouse.url });
  });
  afterAll(async () => {
    await clickHouse.setFaults({});
    await app.stop();
    await clickHouse.stop();
  });

  test("does not respond, a rule is delayed, keeps its state and states the reason; then it continues without a gap", async () => {
    const { prod } = app;
    await send(app, prod, spansOf(2));
    const made = await newAlert(prod);
    const before = await evaluated(prod, made.id);
    expect(before.state).toBe("triggered");
    await clickHouse.setFaults({ refuse: "reset" });
    app.pass(minuteMs);
    const down = await eventually(async () => {
      const rule = await retrieveAlert(prod, made.id);
      return rule.last_error === null ? undefined : rule;
    }, 30_000);
    expect(down).toMatchObject({ state: "triggered", last_error: expect.stringMatching(/^Put off: /) });
    expect(down.evaluated_until).toBe(before.evaluated_until);
    await clickHouse.setFaults({});
    app.pass(minuteMs);
    const after = await evaluated(prod, made.id, before.evaluated_until!);
    expect(after).toMatchObject({ state: "triggered", last_error: null });
    const [error, triggered, ...others] = await historyOf(prod, made.id);
    expect([error!["error"], triggered!["event"], others]).toEqual([down.last_error, "alert_triggered", []]);
  }, 60_000);
});

test("a rule is evaluated every minute, also after a restart: each window ends a minute after the previous one", async () => {
  const [clickHouse, folder] = [await startTestClickHouse(), newDataDir()];
  // Only the test moves this clock: no minute passes by itself.
  let nowMs = Date.now();
  const clock = { now: () => nowMs, pass: (ms: number) => void (nowMs += ms) };
  const start = () => startAlertApp({ SPANWAY_SPANS_URL: clickHouse.url, SPANWAY_DATA_DIR: folder.path }, clock);
  let app = await start();
  try {
    const made = await newAlert(app.prod);
    const ends = [(await evaluated(app.prod, made.id)).evaluated_until];
    for (let minute = 1; minute <= 4; minute += 1) {
      if (minute === 3) {
        await app.stop();
        app = await start();
      }
      ends.push((await nextMinute(app, app.prod, made)).evaluated_until);
    }
    const first = Date.parse(ends[0]!);
    expect(ends.map((end) => Date.parse(end!) - first)).toEqual([0, 1, 2, 3, 4].map((minute) => minute * minuteMs));
  } finally {
    await app.stop();
    await clickHouse.stop();
    await folder.remove();
  }
}, 90_000);

test("a restart within a window repeats nothing, and the states stay", async () => {
  const folder = newDataDir();
  const env = { SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" };
  const path = newPath();
  const first = await startServerProcess(folder.path, env);
  const timestamp = new Date(newestEndMs(Date.now()) - minuteMs / 2).toISOString();
  await first.prod.post("/api/request-logs/bulk/", { logs: [{ timestamp }, { timestamp }] });
  await first.prod.waitForSpans(2);
  const made = await newAlert(first.prod, { channels: [{ type: "webhook", url: receiver.url + path }] });
  const before = await evaluated(first.prod, made.id);
  await received(receiver, path, 1);
  await first.kill("SIGKILL");
  const second = await startServerProcess(folder.path, env);
  try {
    const after = await retrieveAlert(second.prod, made.id);
    expect(after.state).toBe("triggered");
    // The next window begins at the end of the previous one, however long the start took.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect((await historyOf(second.prod, made.id)).filter(({ event }) => event !== null)).toHaveLength(1);
    expect(new Set(receiver.on(path).map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(after.evaluated_until! >= before.evaluated_until!).toBe(true);
  } finally {
    await second.kill("SIGTERM");
    await folder.remove();
  }
}, 60_000);

describe.skipIf(postgresUrl === undefined)(`two nodes over one Postgres${postgresSkipReason}`, () => {
  test("together evaluate each window of a rule once, and notify once", async () => {
    const [clickHouse, database] = [await startTestClickHouse(), await createPostgresDatabase()];
    const stores = {
      SPANWAY_SPANS_URL: clickHouse.url,
      SPANWAY_CONTROL_URL: database.url.reveal(),
      SPANWAY_SECRET_KEY: "a secret that both nodes know",
    };
    const clock = movableClock();
    const first = await startAlertApp(stores, clock);
    const second = await startAlertApp(stores, clock);
    const path = newPath();
    try {
      await send(first, first.prod, spansOf(2));
      const made = await newAlert(first.prod, { channels: [{ type: "webhook", url: receiver.url + path }] });
      await evaluated(second.prod, made.id);
      for (let minute = 0; minute < 3; minute += 1) await nextMinute(first, second.prod, made);
      await received(receiver, path, 1);
      const texts = await Promise.all([first, second].map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
      const counts = texts.map((text) =>
        Number(/^spanway_alert_evaluations_total\{outcome="evaluated"\} (\d+)$/m.exec(text)?.[1] ?? 0),
      );
      // A minute of real time may pass meanwhile.
      const windows = counts.reduce((sum, count) => sum + count, 0);
      expect(windows).toBeGreaterThanOrEqual(4);
      expect(windows).toBeLessThanOrEqual(5);
      expect((await historyOf(first.prod, made.id)).filter(({ event }) => event !== null)).toHaveLength(1);
      expect(receiver.on(path)).toHaveLength(1);
    } finally {
      await first.stop();
      await second.stop();
      await clickHouse.stop();
      await database.drop();
    }
  }, 90_000);
});

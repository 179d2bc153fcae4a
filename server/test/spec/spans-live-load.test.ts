import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ingestLimits } from "../../src/ingest/limits.ts";
import { listenLive, namesOf, until, type LiveStream } from "../support/live.ts";
import { createSpan } from "../support/spans.ts";
import { startTestApp, testAdmin, type TestApp } from "../support/test-app.ts";
import { createClient, type Row } from "../support/test-client.ts";

/** Streams that are slow, numerous, or open for long. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const listen = (key: string | undefined, query = "", headers: Record<string, string> = {}) =>
  listenLive(app.url, query, { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers });

const metric = async (name: string): Promise<number> => {
  const { text } = await createClient(app.url).get("/metrics");
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
};

test("a slow reader skips events, gets their number, and does not delay others", { timeout: 40_000 }, async () => {
  const { keys, prod } = await app.newOrganization();
  const [slow, quick] = [await listen(keys.prod), await listen(keys.prod)];
  slow.response.pause();
  const input = "x".repeat(100_000);
  for (let i = 0; i < 6; i += 1) {
    await prod.post("/api/request-logs/bulk/", { logs: Array.from({ length: 40 }, () => ({ input })) });
  }
  const count = (stream: LiveStream) => stream.events.filter(({ event }) => event === "message").length;
  const skippedBy = (stream: LiveStream) =>
    stream.events.filter(({ event }) => event === "skipped").reduce((sum, { data }) => sum + Number(data["count"]), 0);
  // The quick reader may lag too, but then it gets the number of skipped events.
  await until(() => count(quick) + skippedBy(quick) === 240, 20_000);
  expect(count(quick)).toBeGreaterThan(count(slow));
  slow.response.resume();
  await until(() => skippedBy(slow) > 0 && count(slow) + skippedBy(slow) === 240, 15_000);
  expect(await metric("spanway_live_skipped_total")).toBeGreaterThan(0);
  slow.close();
  quick.close();
});

test(
  "100 listeners get each of some hundred spans per second, and leave no resources behind",
  { timeout: 60_000 },
  async () => {
    const { keys, prod } = await app.newOrganization();
    const before = await metric("spanway_live_listeners");
    const streams = await Promise.all(Array.from({ length: 100 }, () => listen(keys.prod, "include_fields=span_name")));
    expect(await metric("spanway_live_listeners")).toBe(before + 100);
    for (let i = 0; i < 10; i += 1) {
      const logs = Array.from({ length: 150 }, (_, j) => ({ span_name: `${i} ${j}` }));
      await Promise.all([prod.post("/api/request-logs/bulk/", { logs }), sleep(500)]);
    }
    await until(() => streams.every(({ events }) => events.length >= 1_500), 10_000);
    for (const { events } of streams) expect(new Set(namesOf(events)).size).toBe(1_500);
    expect(streams.flatMap(({ events }) => events).length).toBe(150_000);
    for (const stream of streams) stream.close();
    await until(() => streams.every((stream) => stream.isEnded()));
    for (let i = 0; i < 50 && (await metric("spanway_live_listeners")) > before; i += 1) await sleep(50);
    expect(await metric("spanway_live_listeners")).toBe(before);
  },
);

test(
  "a quiet stream has a comment every 15 s, from which it can continue later, and ends soon after its key",
  { timeout: 60_000 },
  async () => {
    const admin = await app.login();
    const made = (await admin.post("/api/api-keys/", { name: "Listener", environment: "prod" })).json as Row;
    const key = String(made["key"] ?? made["api_key"]);
    const { keys, prod } = await app.newOrganization();
    const ending = await listen(key);
    const quiet = await listen(keys.prod);
    const first = quiet.lastId();
    await until(() => quiet.comments.length > 0, 20_000);
    // By then their keys were checked.
    expect([ending, quiet].map((stream) => stream.isEnded())).toEqual([false, false]);
    expect(quiet.lastId() > first).toBe(true);
    expect((await admin.request("DELETE", `/api/api-keys/${String(made["id"])}/`)).status).toBeLessThan(300);
    await until(() => ending.isEnded(), 15_000);
    expect(quiet.isEnded()).toBe(false);
    const again = await listen(keys.prod, "", { "last-event-id": quiet.lastId() });
    await createSpan(prod, { span_name: "later" });
    await until(() => [quiet, again].every(({ events }) => events.length > 0));
    expect([quiet, again].map(({ events }) => namesOf(events))).toEqual([["later"], ["later"]]);
    quiet.close();
    again.close();
  },
);

test("a browser's session follows spans until it ends", { timeout: 60_000 }, async () => {
  const client = createClient(app.url);
  const login = await client.post("/api/auth/login/", { ...testAdmin, session: true });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const stream = await listen(undefined, "", { cookie });
  // Longer than the interval of the session check.
  await sleep(ingestLimits.liveCredentialCheckMs + 2_000);
  expect(stream.isEnded()).toBe(false);
  const span = await createSpan(app.prod, { input: "x" });
  await until(() => stream.events.some(({ data }) => data["unique_id"] === span["unique_id"]));
  const headers = { cookie, origin: app.url, "x-spanway-environment": "prod" };
  expect((await client.post("/api/auth/logout/", {}, headers)).status).toBe(204);
  await until(() => stream.isEnded(), 20_000);
});

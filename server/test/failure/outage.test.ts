import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { listSpans, settle, summarize } from "../support/spans.ts";
import { newDataDir, startServerProcess } from "../support/server-process.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

const outageMs = process.env["SPANWAY_SOAK"] === "1" ? 60_000 : 4_000;
const patienceMs = 20_000;

let clickHouse: TestClickHouse;
let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  clickHouse = await startTestClickHouse();
  app = await startTestApp({ SPANWAY_SPANS_URL: clickHouse.url, SPANWAY_JOURNAL_MAX_BYTES: "1MiB" });
});
beforeEach(async () => {
  ({ prod } = await app.newOrganization());
});
afterAll(async () => {
  await clickHouse.setFaults({});
  await app.stop();
  await clickHouse.stop();
});

const spanNamed = (name: string): Row => ({ custom_identifier: name, log_type: "chat", cost: 0.5 });

async function metric(name: string): Promise<number> {
  const { text } = await prod.get("/metrics");
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await sleep(50);
  }
}

const listPath = "/api/request-logs/list/?start_time=2000-01-01";

const untilReady = () => until("ready", async () => (await prod.get("/readyz?reads=true")).status === 200);

/** Checks that each accepted span is stored once, and nothing else. */
async function expectStored(client: TestClient, names: readonly string[]): Promise<void> {
  await settle(client);
  const { count, results } = await listSpans(client, { log_type: "chat" }, "page_size=1000");
  expect(count).toBe(names.length);
  expect(results.map((row) => String(row["custom_identifier"])).sort()).toEqual([...names].sort());
  expect(await summarize(client, { log_type: "chat" })).toMatchObject({
    number_of_requests: names.length,
    total_cost: names.length / 2,
  });
}

describe("while the span store refuses all requests", () => {
  test("a node starts, accepts spans, and stops immediately; the next start stores them", async () => {
    await clickHouse.setFaults({ refuse: "reset" });
    const dataDir = newDataDir();
    const start = () => startServerProcess(dataDir.path, { SPANWAY_SPANS_URL: clickHouse.url });
    const down = await start();
    const names = ["a", "b"].map((name) => `${name}_${randomUUID()}`);
    for (const name of names) expect((await down.prod.post("/api/request-logs/", spanNamed(name))).status).toBe(201);
    expect((await down.prod.get("/readyz")).json).toMatchObject({ ready: true });
    expect((await down.prod.get("/readyz?reads=true")).json).toMatchObject({
      ready: false,
      checks: { spans: "has no tables yet" },
    });
    const stopped = Date.now();
    expect(await down.kill("SIGTERM")).toMatchObject({ code: 0 });
    expect(Date.now() - stopped).toBeLessThan(5_000);

    const still = await start();
    await clickHouse.setFaults({});
    const filter = { custom_identifier: { operator: "in", value: names } };
    await until("listed", async () =>
      (await still.prod.post(listPath, { filters: filter })).text.includes('"count":2'),
    );
    await still.kill("SIGTERM");
    await dataDir.remove();
  });

  test(
    "spans are accepted, reads get 503, probes and metrics show it; then each span is stored once",
    async () => {
      const failuresBefore = await metric("spanway_writer_failures_total");
      const accepted: string[] = [];
      let first: unknown;
      const ends = Date.now() + outageMs;
      await clickHouse.setFaults({ refuse: "reset" });
      setTimeout(() => void clickHouse.setFaults({ refuse: "503" }), outageMs / 2);
      for (let i = 0; Date.now() < ends; i += 1) {
        const name = randomUUID();
        const answer = await prod.post("/api/request-logs/", spanNamed(name));
        expect(answer.status).toBe(201);
        first ??= (answer.json as Row)["unique_id"];
        accepted.push(name);
        await sleep(outageMs / 200);
      }
      const change = await prod.request("PATCH", `/api/request-logs/${String(first)}/`, { note: "seen" });
      expect([change.status, change.headers.has("retry-after")]).toEqual([503, true]);
      expect((await prod.get("/readyz")).status).toBe(200);
      const readiness = await prod.get("/readyz?reads=true");
      expect(readiness.status).toBe(503);
      expect(readiness.json).toMatchObject({
        checks: {
          spans: "does not answer",
          control: "ok",
          journal: "ok",
          replay: "ok",
          writer: expect.stringMatching(/^failing since 2/),
        },
      });
      expect((await prod.get("/livez")).status).toBe(200);
      for (const path of ["list", "summary", "groups"]) {
        const answer = await prod.post(`/api/request-logs/${path}/?group_by=model`, {});
        expect(answer.status).toBe(503);
        expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
        expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN|clickhouse/i);
      }
      expect((await prod.get(`/api/request-logs/${randomUUID()}/`)).status).toBe(503);
      expect(await metric("spanway_writer_failures_total")).toBeGreaterThan(failuresBefore);
      expect(await metric("spanway_journal_entries")).toBeGreaterThanOrEqual(accepted.length - 1);
      expect(await metric("spanway_journal_bytes")).toBeGreaterThan(0);
      expect(await metric("spanway_journal_oldest_seconds")).toBeGreaterThan(outageMs / 2_000);
      expect(await metric('spanway_ready{check="spans"}')).toBe(0);
      expect(await metric('spanway_ready{check="control"}')).toBe(1);

      await clickHouse.setFaults({});
      await untilReady();
      await expectStored(prod, accepted);
      expect(await metric("spanway_journal_entries")).toBe(0);
      expect(await metric("spanway_journal_bytes")).toBe(0);
      expect(await metric("spanway_journal_oldest_seconds")).toBe(0);
    },
    outageMs * 2 + 60_000,
  );

  test("spans that do not fit into the journal are refused with Retry-After, and no others", async () => {
    await clickHouse.setFaults({ refuse: "503" });
    const padding = "x".repeat(50_000);
    const accepted: string[] = [];
    const refusals: Answer[] = [];
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const names = Array.from({ length: i % 3 === 0 ? 3 : 1 }, () => randomUUID());
        const spans = names.map((name) => ({ ...spanNamed(name), input: padding }));
        const answer =
          spans.length === 1
            ? await prod.post("/api/request-logs/", spans[0])
            : await prod.post("/api/request-logs/bulk/", { logs: spans });
        expect([201, 503]).toContain(answer.status);
        if (answer.status === 201) accepted.push(...names);
        else refusals.push(answer);
      }),
    );
    expect(accepted.length).toBeGreaterThan(5);
    expect(refusals.length).toBeGreaterThan(5);
    for (const refusal of refusals) {
      expect(refusal.headers.get("retry-after")).toBe("5");
      expect(refusal.json).toMatchObject({ code: "unavailable", retry_after: 5 });
    }
    expect(await metric("spanway_journal_bytes")).toBeLessThanOrEqual(2 ** 20);
    // There is still room for an organization without waiting spans.
    expect((await prod.get("/readyz")).status).toBe(200);

    await clickHouse.setFaults({});
    await untilReady();
    await expectStored(prod, accepted);
    const again = await prod.post("/api/request-logs/", { ...spanNamed("again"), input: padding });
    expect(again.status).toBe(201);
    await expectStored(prod, [...accepted, "again"]);
  });

  test("a node whose journal is full for every organization is not ready, until it has stored some spans", async () => {
    await clickHouse.setFaults({ refuse: "503" });
    const large = { ...spanNamed("full"), input: "x".repeat(30_000) };
    const isReady = async () => (await prod.get("/readyz")).status === 200;
    const fill = async () => {
      const { prod: one } = await app.newOrganization();
      await until("refused", async () => (await one.post("/api/request-logs/", large)).status === 503);
    };
    for (let i = 0; i < 10 && (await isReady()); i += 1) await fill();
    expect((await prod.get("/readyz")).json).toMatchObject({
      ready: false,
      checks: { journal: "full", control: "ok" },
    });
    expect(await metric('spanway_ready{check="journal"}')).toBe(0);
    await clickHouse.setFaults({});
    await until("ready", isReady);
    expect((await prod.post("/api/request-logs/", large)).status).toBe(201);
    await untilReady();
  });

  test("an organization that fills the journal leaves room for another immediately", async () => {
    const { prod: other } = await app.newOrganization();
    const refusalsBefore = await metric("spanway_journal_refusals_total");
    await clickHouse.setFaults({ refuse: "503" });
    const large = { ...spanNamed("hog"), input: "x".repeat(50_000) };
    await until("refused", async () => (await prod.post("/api/request-logs/", large)).status === 503);
    expect(await metric("spanway_journal_refusals_total")).toBeGreaterThan(refusalsBefore);
    const accepted = ["a", "b", "c"];
    for (const name of accepted) expect((await other.post("/api/request-logs/", spanNamed(name))).status).toBe(201);
    expect((await prod.post("/api/request-logs/", large)).headers.get("retry-after")).toBe("5");
    await clickHouse.setFaults({});
    await untilReady();
    await expectStored(other, accepted);
  });

  test("the identity of a refused span is not remembered: its resend counts", async () => {
    await clickHouse.setFaults({ refuse: "503" });
    const filler = { logs: [{ input: "x".repeat(1_000_000) }] };
    await until("the journal is full", async () => (await prod.post("/api/request-logs/bulk/", filler)).status === 503);
    const name = randomUUID();
    const identified = { ...spanNamed(name), trace_unique_id: "t", span_unique_id: "s", input: "y".repeat(60_000) };
    const complete = { ...identified, output: "done" };
    expect((await prod.post("/api/request-logs/", complete)).status).toBe(503);
    await clickHouse.setFaults({});
    // Less full than the refused version, which must not take precedence, because it is not stored.
    await until("there is room", async () => (await prod.post("/api/request-logs/", identified)).status === 201);
    await expectStored(prod, [name]);
  });
});

describe("while the span store fails in other ways", () => {
  test("inserts that were executed without a response count once", async () => {
    await clickHouse.setFaults({ dropInsertReplies: 3 });
    const names = Array.from({ length: 30 }, () => randomUUID());
    for (const name of names.slice(0, 20)) {
      expect((await prod.post("/api/request-logs/", spanNamed(name))).status).toBe(201);
    }
    const logs = names.slice(20).map(spanNamed);
    expect((await prod.post("/api/request-logs/bulk/", { logs })).json).toMatchObject({ success_count: 10 });
    await expectStored(prod, names);
    await untilReady();
  });

  const reads = [
    ..."list/ summary/ groups/?group_by=model timeseries/?group_by=model facets/ export/"
      .split(" ")
      .map((path) => `request-logs/${path}`),
    ..."traces/list/ traces/timeseries/ traces/export/ users/export/ log_threads/".split(" "),
  ];

  test.each(reads)("%s that needs more memory than one read may use is 413, and not a file", async (path) => {
    const ids = { trace_unique_id: "t", span_unique_id: "s", thread_identifier: "th", customer_identifier: "ann" };
    await prod.post("/api/request-logs/", { ...spanNamed("a"), ...ids, model: "m" });
    await settle(prod);
    const send = () =>
      prod.post(`/api/${path}${path.includes("?") ? "&" : "?"}start_time=2000-01-01`, { filters: { model: ["m"] } });
    expect((await send()).status).toBe(200);
    await clickHouse.setFaults({ memoryBytes: 1_000 });
    const answer = await send();
    await clickHouse.setFaults({});
    expect([answer.status, answer.json]).toMatchObject([413, { code: "query_too_large" }]);
    expect(answer.headers.get("content-disposition")).toBeNull();
  });

  test("spans are accepted immediately while each insert takes seconds", async () => {
    await clickHouse.setFaults({ delayMs: 1500 });
    const names = Array.from({ length: 20 }, () => randomUUID());
    const began = performance.now();
    for (const name of names) expect((await prod.post("/api/request-logs/", spanNamed(name))).status).toBe(201);
    expect(performance.now() - began).toBeLessThan(1500);
    await clickHouse.setFaults({});
    await expectStored(prod, names);
  });

  test("organisations whose spans waited in one journal each get their own spans", async () => {
    await clickHouse.setFaults({ refuse: "503" });
    const owners = await Promise.all(Array.from({ length: 4 }, () => app.newOrganization()));
    await Promise.all(
      owners.map((owner, i) =>
        owner.prod.post("/api/request-logs/bulk/", {
          logs: Array.from({ length: i + 1 }, (_, n) => ({
            ...spanNamed(`${i}/${n}`),
            trace_unique_id: "t",
            span_unique_id: `${n}`,
          })),
        }),
      ),
    );
    await clickHouse.setFaults({});
    for (const [i, owner] of owners.entries()) {
      await expectStored(
        owner.prod,
        Array.from({ length: i + 1 }, (_, n) => `${i}/${n}`),
      );
    }
  });
});

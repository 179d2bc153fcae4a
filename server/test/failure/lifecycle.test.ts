import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { openJournal } from "../../src/storage/journal/journal.ts";
import { startTestClickHouse } from "../support/clickhouse-http-server.ts";
import { newDataDir, runAdminProcess, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { bodyOf, listSpans, retrieveSpan, settle, summarize } from "../support/spans.ts";
import { testKeys } from "../support/test-app.ts";
import { createClient } from "../support/test-client.ts";

const graceMs = 10_000;
/** Nothing listens on this port. */
const nobody = "postgres://u:pass-word@127.0.0.1:1/x";
const cleanup: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

function freshDir(): string {
  const dir = newDataDir();
  cleanup.push(() => dir.remove());
  return dir.path;
}

async function start(dir: string, overrides: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startServerProcess(dir, overrides);
  cleanup.push(async () => {
    if (server.child.exitCode === null && server.child.signalCode === null) await server.kill("SIGKILL");
  });
  return server;
}

/** Rows as the intake writes them into the journal, before the server starts. */
async function leaveInJournal(dir: string, payloads: Iterable<string>): Promise<void> {
  const journal = openJournal({
    path: join(dir, "journal"),
    maxBytes: 1e9,
    maxEntries: 1e6,
    identityMemoryMs: 1e9,
    now: Date.now,
  });
  for (const payload of payloads) {
    await journal.append({ payload: Buffer.from(payload), rows: payload.split("\n").length - 1, identities: [] });
  }
  await journal.close();
}

const organizationId = "org_journal";
const line = (row: object = {}): string =>
  `${JSON.stringify({
    organization_id: organizationId,
    environment: "prod",
    timestamp: "2026-01-01 00:00:00.000000000",
    unique_id: randomUUID(),
    version: "1",
    log_type: "chat",
    cost: 0.5,
    ...row,
  })}\n`;

const metricOf = async (server: ServerProcess, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\S+)$`, "m").exec((await server.prod.get("/metrics")).text)?.[1]);

describe("SIGTERM", () => {
  test("finishes requests in progress, stores accepted spans and exits with code 0", async () => {
    const dir = freshDir();
    const server = await start(dir);
    for (let i = 0; i < 50; i += 1) await server.prod.post("/api/request-logs/", { log_type: "chat", cost: 0.5 });
    const slow = request(new URL("/api/request-logs/bulk/", server.url), {
      method: "POST",
      headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": "application/json" },
    });
    slow.write('{"logs":[{"log_type":"chat","cost":0.5},');
    await sleep(100);
    const began = performance.now();
    const ended = server.kill("SIGTERM");
    await sleep(300);
    await expect(fetch(new URL("/livez", server.url))).rejects.toThrow("fetch failed");
    const answered = once(slow, "response") as Promise<[IncomingMessage]>;
    slow.end('{"log_type":"chat","cost":0.5}]}');
    const [answer] = await answered;
    expect([answer.statusCode, JSON.parse(await text(answer))]).toMatchObject([201, { success_count: 2 }]);
    expect(await ended).toEqual({ code: 0 });
    expect(performance.now() - began).toBeLessThan(graceMs);

    const again = await start(dir);
    expect(await summarize(again.prod)).toMatchObject({ number_of_requests: 52, total_cost: 26 });
    expect(await metricOf(again, "spanway_journal_entries")).toBe(0);
    expect(await again.kill("SIGINT")).toEqual({ code: 0 });
  });

  test("N7: makes the node not ready, lets it serve for SPANWAY_DRAIN_SECONDS, and closes it then", async () => {
    const server = await start(freshDir(), { SPANWAY_DRAIN_SECONDS: "2" });
    const before = await fetch(new URL("/readyz", server.url));
    expect([before.status, before.headers.get("connection")]).toEqual([200, "keep-alive"]);
    const began = performance.now();
    const ended = server.kill("SIGTERM");
    await expect.poll(async () => (await fetch(new URL("/readyz", server.url))).status).toBe(503);
    const notReady = await fetch(new URL("/readyz", server.url));
    expect(await notReady.json()).toMatchObject({ ready: false, checks: { node: "stopping", journal: "ok" } });
    // Clients with open connections then use another node.
    expect(notReady.headers.get("connection")).toBe("close");
    const accepted = await server.prod.post("/api/request-logs/", { log_type: "chat" });
    expect([accepted.status, accepted.headers.get("connection")]).toEqual([201, "close"]);
    expect(await ended).toEqual({ code: 0 });
    expect(performance.now() - began).toBeGreaterThan(2_000);
  });

  test("SIGINT, and a second SIGTERM, skip SPANWAY_DRAIN_SECONDS", async () => {
    const settings = { SPANWAY_DRAIN_SECONDS: "60" };
    const [one, two] = [await start(freshDir(), settings), await start(freshDir(), settings)];
    expect(await one.kill("SIGINT")).toEqual({ code: 0 });
    two.child.kill("SIGTERM");
    await expect.poll(async () => (await two.prod.get("/readyz")).status).toBe(503);
    expect(await two.kill("SIGTERM")).toEqual({ code: 1 });
  });

  test("with a failing store ends the node within the grace period, and the journal keeps everything", async () => {
    const clickHouse = await startTestClickHouse();
    cleanup.push(() => clickHouse.stop());
    const dir = freshDir();
    const server = await start(dir, { SPANWAY_SPANS_URL: clickHouse.url });
    await clickHouse.setFaults({ refuse: "503" });
    for (let i = 0; i < 20; i += 1) {
      expect((await server.prod.post("/api/request-logs/", { log_type: "chat", cost: 0.5 })).status).toBe(201);
    }
    const began = performance.now();
    expect(await server.kill("SIGTERM")).toEqual({ code: 0 });
    expect(performance.now() - began).toBeLessThan(graceMs * 2);
    await clickHouse.setFaults({});
    const again = await start(dir, { SPANWAY_SPANS_URL: clickHouse.url });
    await settle(again.prod);
    expect(await summarize(again.prod, { log_type: "chat" })).toMatchObject({ number_of_requests: 20, total_cost: 10 });
  });
});

describe("the journal at a start", () => {
  test("N7: is stored before the server reports that reads work; the node accepts traffic meanwhile", async () => {
    const clickHouse = await startTestClickHouse();
    cleanup.push(() => clickHouse.stop());
    const dir = freshDir();
    const payloads = Array.from({ length: 300 }, () => Array.from({ length: 50 }, () => line()).join(""));
    await leaveInJournal(dir, payloads);
    const settings = { SPANWAY_SPANS_URL: clickHouse.url, SPANWAY_ORGANIZATION_ID: organizationId };
    // Another node creates the tables first: a slow store would slow the migration too.
    const other = await start(freshDir(), settings);
    await other.kill("SIGTERM");
    await clickHouse.setFaults({ delayMs: 500 });
    const server = await start(dir, settings);
    expect((await server.prod.get("/readyz")).status).toBe(200);
    const first = await server.prod.get("/readyz?reads=true");
    expect([first.status, bodyOf(first)["checks"]]).toMatchObject([503, { replay: "replaying" }]);
    for (;;) {
      if ((await server.prod.get("/readyz?reads=true")).status === 200) break;
      await sleep(20);
    }
    await clickHouse.setFaults({});
    expect(await summarize(server.prod)).toMatchObject({ number_of_requests: 15_000, total_cost: 7500 });
  });

  test("of 500 MB is stored within bounded memory; the node is ready before, and accepts spans meanwhile", async () => {
    const dir = freshDir();
    const [requests, rows] = [500, 10];
    const input = "journal ".repeat(12_500);
    const payload = () => Array.from({ length: rows }, () => line({ input })).join("");
    await leaveInJournal(dir, Iterator.from({ next: () => ({ done: false, value: payload() }) }).take(requests));
    const server = await start(dir, { SPANWAY_ORGANIZATION_ID: organizationId });
    expect(await metricOf(server, "spanway_journal_bytes")).toBeGreaterThan(400e6);
    expect((await server.prod.get("/readyz")).status).toBe(200);
    expect((await server.prod.get("/readyz?reads=true")).status).toBe(503);
    expect((await server.prod.post("/api/request-logs/", { log_type: "chat", cost: 0.5 })).status).toBe(201);
    let memoryKb = 0;
    const entries = () => {
      const memory = readFileSync(`/proc/${server.child.pid}/status`, "utf8");
      memoryKb = Math.max(memoryKb, Number(/RssAnon:\s+(\d+)/.exec(memory)?.[1]));
      return metricOf(server, "spanway_journal_entries");
    };
    await expect.poll(entries, { timeout: 200_000, interval: 200 }).toBe(0);
    expect(await summarize(server.prod)).toMatchObject({ number_of_requests: requests * rows + 1 });
    expect(memoryKb).toBeGreaterThan(0);
    expect(memoryKb).toBeLessThan(1_200_000);
  }, 240_000);

  test("only the row that the store refuses is quarantined and counted; its neighbours are stored", async () => {
    const dir = freshDir();
    const bad = [{ timestamp: "no time" }, { unique_id: "no id" }, { version: "-1" }, { cost: "cheap" }].map(line);
    const good = Array.from({ length: 200 }, () => line());
    const rows = good.flatMap((row, i) => (i % 50 === 25 ? [row, bad[Math.floor(i / 50)] ?? ""] : [row]));
    await leaveInJournal(dir, [rows.slice(0, 150).join(""), rows.slice(150).join(""), '{"half a line\n', "\n"]);
    const server = await start(dir, { SPANWAY_ORGANIZATION_ID: organizationId });
    await settle(server.prod);
    expect(await summarize(server.prod, { log_type: "chat" })).toMatchObject({
      number_of_requests: 200,
      total_cost: 100,
    });
    expect(await metricOf(server, "spanway_writer_quarantined_rows_total")).toBe(5);
    expect(await metricOf(server, "spanway_journal_quarantined")).toBe(5);
    expect(await metricOf(server, "spanway_journal_entries")).toBe(0);
    expect(server.output()).toContain("quarantined");
    expect(server.output()).not.toContain("half a line");
    await server.kill("SIGTERM");
    const again = await start(dir, { SPANWAY_ORGANIZATION_ID: organizationId });
    expect(await metricOf(again, "spanway_journal_quarantined")).toBe(5);
  });

  test.each([
    ["cut off", Buffer.alloc(100)],
    ["not a database", Buffer.alloc(100_000, "x")],
  ])("a file that is %s stops the start with its path", async (_name, bytes) => {
    const dir = freshDir();
    mkdirSync(join(dir, "journal"));
    writeFileSync(join(dir, "journal", "data.mdb"), bytes);
    await expect(start(dir)).rejects.toThrow(/The journal .*data\.mdb is damaged/);
  });

  test("an invalid folder stops the start with an error that names its path", async () => {
    const dir = freshDir();
    writeFileSync(join(dir, "journal"), "not a database");
    await expect(start(dir)).rejects.toThrow(join(dir, "journal"));
  });
});

describe("several nodes", () => {
  test("a port in use stops the start with one line, before a first start shows its keys", async () => {
    const running = await start(freshDir());
    const taken = new URL(running.url).port;
    const dir = freshDir();
    const refusal = await startServerProcess(dir, { SPANWAY_PORT: taken, SPANWAY_PROD_KEY: "" }).catch(String);
    expect(refusal).toContain("set SPANWAY_PORT");
    expect(refusal).not.toMatch(/API key| {4}at /);
    const later = await start(dir, { SPANWAY_PROD_KEY: "" });
    expect(later.output()).toMatch(/prod API key {4}spw_prod_\w+/);
    await later.kill("SIGTERM");
    // Its last output may be read after its end.
    await expect.poll(() => later.output(), { timeout: 5_000 }).toContain('"msg":"stopped');
  });

  test.each([
    ["an address of elsewhere", { SPANWAY_HOST: "192.0.2.1" }, "set SPANWAY_HOST"],
    [
      "a Postgres that is not there",
      { SPANWAY_CONTROL_URL: nobody, SPANWAY_CONTROL_WAIT_SECONDS: "0" },
      "SPANWAY_CONTROL_URL",
    ],
  ])("%s stops the start with one line", async (_what, settings, remedy) => {
    const refusal = await startServerProcess(freshDir(), settings).catch(String);
    expect(refusal).toContain(remedy);
    expect(refusal).not.toMatch(/begins again|pass-word|API key| {4}at /);
  });

  test("the start waits for an unreachable Postgres as long as configured, with a line for each try", async () => {
    const began = performance.now();
    const settings = { SPANWAY_CONTROL_URL: nobody, SPANWAY_CONTROL_WAIT_SECONDS: "3" };
    const refusal = await startServerProcess(freshDir(), settings).catch(String);
    expect(performance.now() - began).toBeGreaterThan(3_000);
    expect(refusal).toContain('"msg":"the control store does not answer; the start begins again in a second"');
    expect(refusal).toMatch(/Is SPANWAY_CONTROL_URL right, and the server running\?\s*$/);
    expect(refusal).not.toContain("pass-word");
  });

  test("an unusable data folder stops the start with its path and a remedy, and without a stack trace", async () => {
    const file = join(freshDir(), "file");
    writeFileSync(file, "");
    const refusal = await startServerProcess(join(file, "data")).catch(String);
    expect(refusal).toContain(`${file}/data cannot be used: part of the path is a file`);
    expect(refusal).toContain("set SPANWAY_DATA_DIR");
    expect(refusal).not.toContain("    at ");
  });

  test("a second process on a data folder is refused, and does not affect the first", async () => {
    const dir = freshDir();
    const first = await start(dir);
    const began = performance.now();
    await expect(start(dir)).rejects.toThrow(/Another Spanway process uses this data folder/);
    const spans = { SPANWAY_SPANS_URL: `chdb:${join(dir, "spans")}` };
    await expect(start(freshDir(), spans)).rejects.toThrow(/The span store .*spans cannot be opened: another process/);
    expect(performance.now() - began).toBeLessThan(graceMs);
    const created = await first.prod.post("/api/request-logs/", { input: "still here" });
    expect(await retrieveSpan(first.prod, bodyOf(created)["unique_id"])).toMatchObject({ input: "still here" });
    await first.kill("SIGKILL");
    const next = await start(dir);
    expect((await listSpans(next.prod)).count).toBe(1);
  });

  test("two nodes that start at the same time on empty stores create one organisation, and share its spans", async () => {
    const clickHouse = await startTestClickHouse();
    cleanup.push(() => clickHouse.stop());
    const control = join(freshDir(), "control.db");
    const settings = {
      SPANWAY_SPANS_URL: clickHouse.url,
      SPANWAY_CONTROL_URL: `sqlite:${control}`,
      SPANWAY_SECRET_KEY: "a secret that both nodes know",
      SPANWAY_PROD_KEY: "",
      SPANWAY_TEST_KEY: "",
    };
    const nodes = await Promise.all([freshDir(), freshDir()].map((dir) => start(dir, settings)));
    const keys = nodes.flatMap((node) =>
      [...node.output().matchAll(/prod API key +(\S+)/g)].map((match) => match[1] ?? ""),
    );
    expect(keys).toHaveLength(1);
    const [one, two] = nodes.map((node) => createClient(node.url, keys[0])) as [
      ServerProcess["prod"],
      ServerProcess["prod"],
    ];
    const span = {
      trace_unique_id: "t",
      span_unique_id: "s",
      log_type: "chat",
      cost: 0.5,
      timestamp: "2026-01-01T00:00:00Z",
    };
    const ids = await Promise.all(
      [one, two, one, two].map(async (node) => bodyOf(await node.post("/api/request-logs/", span))["unique_id"]),
    );
    expect(new Set(ids).size).toBe(1);
    await settle(one);
    await settle(two);
    for (const node of [one, two]) {
      expect(await summarize(node, { log_type: "chat" })).toMatchObject({ number_of_requests: 1, total_cost: 0.5 });
    }
  });
});

test("another SPANWAY_SECRET_KEY is refused; once accepted it is reported at start, in the settings, by calls and by webhooks", async () => {
  const dir = freshDir();
  const before = await start(dir, { SPANWAY_SECRET_KEY: "the secret of before" });
  const lab = { provider: "my-lab", base_url: "https://llm.example.com/v1", api_key: "sk-lab-0123456789" };
  const stored = bodyOf(await before.prod.post("/api/providers/", { ...lab, available_models: ["lab-1"] }));
  const hook = { url: "https://example.com/hook", name: "n", event_type: "trace_completed" };
  const webhook = bodyOf(await before.prod.post("/api/webhooks/", hook));
  await before.kill("SIGTERM");

  const today = { SPANWAY_SECRET_KEY: "the secret of today" };
  const refusal = await startServerProcess(dir, today).catch(String);
  expect(refusal).toMatch(/SPANWAY_SECRET_KEY.* is not the secret key of this control store.*secret-key accept/);
  expect(refusal).not.toMatch(/the secret of|is listening| {4}at /);
  await runAdminProcess(dir, ["secret-key", "accept"], today);
  await expect(start(dir, { SPANWAY_SECRET_KEY: "the secret of before" })).rejects.toThrow("secret-key accept");
  const after = await start(dir, today);
  const { prod } = after;
  for (const what of ["stored provider keys", "secrets of webhooks"])
    expect(after.output()).toMatch(
      new RegExp(
        `"unreadable":1,"checked":1,"msg":"${what} cannot be read: they were stored under another SPANWAY_SECRET_KEY`,
      ),
    );
  const path = `/api/providers/${String(stored["id"])}/`;
  expect(bodyOf(await prod.get(path))).toMatchObject({ is_readable: false, is_enabled: true });
  const messages = [{ role: "user", content: "hi" }];
  for (const model of ["lab-1", "my-lab/lab-1"]) {
    expect(await prod.post("/v1/chat/completions", { model, messages })).toMatchObject({
      status: 424,
      json: { error: { message: expect.stringMatching(/stored credential of my-lab cannot be read.*PATCH/) } },
    });
  }
  const secret = await prod.get(`/api/webhooks/${String(webhook["id"])}/?is_including_secrets=true`);
  expect(secret).toMatchObject({ status: 409, json: { detail: expect.stringContaining("SPANWAY_SECRET_KEY") } });
  await prod.request("PATCH", path, { api_key: "sk-lab-9876543210" });
  expect(bodyOf(await prod.get(path))).toMatchObject({ is_readable: true });
});

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openJournal } from "../../src/storage/journal/journal.ts";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { gotBy, listenLive, until, type LiveStream } from "../support/live.ts";
import { newDataDir, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { settle } from "../support/spans.ts";
import { testKeys } from "../support/test-app.ts";

let clickHouse: TestClickHouse;
beforeAll(async () => {
  clickHouse = await startTestClickHouse();
});
const cleanup: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});
afterAll(() => clickHouse.stop());

async function startNode(dir: string, more: Record<string, string>): Promise<ServerProcess> {
  const node = await startServerProcess(dir, more);
  cleanup.push(async () => {
    if (node.child.exitCode === null && node.child.signalCode === null) await node.kill("SIGKILL");
  });
  return node;
}

function freshDir(): string {
  const dir = newDataDir();
  cleanup.push(() => dir.remove());
  return dir.path;
}

async function listen({ url }: ServerProcess, cursor?: string): Promise<LiveStream> {
  const headers = { authorization: `Bearer ${testKeys.prod}`, ...(cursor && { "last-event-id": cursor }) };
  const stream = await listenLive(url, "include_fields=span_name", headers);
  cleanup.push(async () => stream.close());
  return stream;
}

/** The journal of a node that died with these spans, received 40 s ago. */
async function leaveInJournal(dir: string, organization_id: string, names: readonly string[]): Promise<void> {
  const at = new Date(Date.now() - 40_000).toISOString().replace("T", " ").replace("Z", "000000");
  const journal = openJournal({
    path: join(dir, "journal"),
    maxBytes: 1e9,
    maxEntries: 1e6,
    identityMemoryMs: 1e9,
    now: Date.now,
  });
  const rows = names.map((span_name) => ({
    organization_id,
    environment: "prod",
    timestamp: at,
    received_at: at,
    unique_id: randomUUID(),
    version: "1",
    log_type: "chat",
    span_name,
  }));
  const payload = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await journal.append({ payload, rows: rows.length, identities: [] });
  await journal.close();
}

test(
  "spans that another node received arrive immediately, and spans that it stored late a little later, each once",
  { timeout: 90_000 },
  async () => {
    const organization = `org_${randomUUID()}`;
    const shared = { SPANWAY_SPANS_URL: clickHouse.url, SPANWAY_ORGANIZATION_ID: organization };
    const [one, lateDir] = [await startNode(freshDir(), shared), freshDir()];
    const stream = await listen(one);
    await leaveInJournal(lateDir, organization, ["late 1", "late 2"]);
    const other = await startNode(lateDir, shared);
    await other.prod.post("/api/request-logs/", { span_name: "of the other" });
    await until(() => gotBy(stream).names.includes("of the other"));
    await until(() => gotBy(stream).names.length === 3, 30_000);
    await sleep(12_000);
    const got = gotBy(stream);
    expect([got.names.sort(), got.skipped]).toEqual([["late 1", "late 2", "of the other"], 0]);
  },
);

test(
  "spans stored before the cursor during a break are counted as skipped, on any node",
  { timeout: 90_000 },
  async () => {
    const organization = `org_${randomUUID()}`;
    const shared = { SPANWAY_SPANS_URL: clickHouse.url, SPANWAY_ORGANIZATION_ID: organization };
    const one = await startNode(freshDir(), shared);
    const first = await listen(one);
    for (const span_name of ["a", "b"]) {
      await one.prod.post("/api/request-logs/", { span_name });
      await until(() => gotBy(first).names.includes(span_name), 15_000);
      await sleep(1_000);
    }
    const cursor = first.lastId();
    first.close();
    const lateDir = freshDir();
    await leaveInJournal(lateDir, organization, ["late 1", "late 2"]);
    const other = await startNode(lateDir, shared);
    await other.prod.post("/api/request-logs/", { span_name: "c" });
    await settle(other.prod);
    const streams = [await listen(one, cursor), await listen(other, cursor)];
    await until(() => streams.every((stream) => gotBy(stream).skipped > 0));
    await sleep(1_500);
    for (const stream of streams) expect(gotBy(stream)).toEqual({ names: ["c"], skipped: 2 });
  },
);

test.each(["SIGTERM", "SIGKILL"] as const)(
  "a client continues after the id of its last event across a restart by %s, without loss or repeat",
  { timeout: 90_000 },
  async (signal) => {
    const dir = freshDir();
    let node = await startNode(dir, {});
    let isSending = true;
    const taken: string[] = [];
    const sending = (async () => {
      for (let i = 0; isSending; i += 1) {
        const span_name = `${i}`;
        // A span without a response may be accepted, so it has an id with which it is resent.
        const send = () =>
          node.prod.post("/api/request-logs/", { span_name }, { "idempotency-key": span_name }).catch(() => undefined);
        while ((await send())?.status !== 201) await sleep(50);
        taken.push(span_name);
        await sleep(5);
      }
    })();
    const before = await listen(node);
    await until(() => before.events.length > 100, 15_000);
    const stoppedMs = performance.now();
    await node.kill(signal);
    await before.ended;
    expect(performance.now() - stoppedMs).toBeLessThan(10_000);
    node = await startNode(dir, {});
    const after = await listen(node, before.lastId());
    await until(() => after.events.length > 100, 20_000);
    isSending = false;
    await sending;
    const got = () => [...gotBy(before).names, ...gotBy(after).names];
    await until(() => new Set(got()).size >= taken.length, 15_000);
    await sleep(1_500);
    expect(gotBy(after).skipped).toBe(0);
    const names = new Map(got().map((name, i) => [name, i]));
    expect([...names.keys()].sort()).toEqual([...taken].sort());
    // A resent span may arrive again, as its newest version.
    expect(got().length - names.size).toBeLessThanOrEqual(1);
  },
);

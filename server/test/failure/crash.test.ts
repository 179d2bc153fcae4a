import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { newDataDir, startServerProcess } from "../support/server-process.ts";
import { bodyOf, listSpans, settle, summarize } from "../support/spans.ts";
import type { Row, TestClient } from "../support/test-client.ts";

const dataDir = newDataDir();
afterAll(() => dataDir.remove());

const rounds = process.env["SPANWAY_SOAK"] === "1" ? 100 : 10;
const singleWriters = 3;
const bulkWriters = 2;
const rowsPerBulk = 20;
const costUsd = 0.25;

/** Names of spans: those that were sent, and those that got a 201. */
type Ledger = { sent: Set<string>; accepted: Set<string>; retry: Row[][] };
const ledger: Ledger = { sent: new Set(), accepted: new Set(), retry: [] };

/** Spans with ids may be resent if no response came; the others are lost or stored, but never twice. */
const newSpan = (isIdentified: boolean): Row => {
  const name = randomUUID();
  return {
    custom_identifier: name,
    log_type: "chat",
    cost: costUsd,
    input: "x".repeat(Math.floor(Math.random() * 2000)),
    ...(isIdentified && { trace_unique_id: name.slice(0, 8), span_unique_id: name }),
  };
};
const nameOf = (span: Row): string => String(span["custom_identifier"]);

async function send(client: TestClient, spans: Row[]): Promise<void> {
  for (const span of spans) ledger.sent.add(nameOf(span));
  const answer =
    spans.length === 1
      ? await client.post("/api/request-logs/", spans[0])
      : await client.post("/api/request-logs/bulk/", { logs: spans });
  if (answer.status !== 201) throw new Error(`the server answered ${answer.status}: ${answer.text}`);
  for (const span of spans) ledger.accepted.add(nameOf(span));
}

/** Sends spans until the server is down. */
async function write(client: TestClient, rowsPerRequest: number): Promise<void> {
  for (let i = 0; ; i += 1) {
    const isIdentified = i % 2 === 0;
    const spans = ledger.retry.pop() ?? Array.from({ length: rowsPerRequest }, () => newSpan(isIdentified));
    try {
      await send(client, spans);
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      if (spans[0]?.["span_unique_id"] !== undefined) ledger.retry.push(spans);
      return;
    }
  }
}

const isConnectionLoss = (error: unknown): boolean => error instanceof TypeError;

test(
  `after ${rounds} kills under load every span with a 201 is stored exactly once`,
  async () => {
    for (let round = 0; round < rounds; round += 1) {
      const server = await startServerProcess(dataDir.path, { SPANWAY_LOG_LEVEL: "info" });
      const before = ledger.accepted.size;
      const writers = [
        ...Array.from({ length: singleWriters }, () => write(server.prod, 1)),
        ...Array.from({ length: bulkWriters }, () => write(server.prod, rowsPerBulk)),
      ];
      await expect.poll(() => ledger.accepted.size, { timeout: 15_000, interval: 5 }).toBeGreaterThan(before + 10);
      await sleep(Math.random() * 400);
      await server.kill("SIGKILL");
      await Promise.all(writers);
    }
    const server = await startServerProcess(dataDir.path);
    await Promise.all(ledger.retry.splice(0).map((spans) => send(server.prod, spans)));
    await settle(server.prod);
    const stored = await namesOf(server.prod);
    expect(new Set(stored).size).toBe(stored.length);
    const names = new Set(stored);
    expect([...ledger.accepted].filter((name) => !names.has(name))).toEqual([]);
    expect(stored.filter((name) => !ledger.sent.has(name))).toEqual([]);
    expect(await summarize(server.prod, { log_type: "chat" })).toMatchObject({
      number_of_requests: stored.length,
      total_cost: stored.length * costUsd,
    });
    expect(bodyOf(await server.prod.get("/readyz?reads=true"))).toMatchObject({ checks: { replay: "ok" } });
    expect(await server.kill("SIGTERM")).toEqual({ code: 0 });
  },
  rounds * 20_000,
);

async function namesOf(client: TestClient): Promise<string[]> {
  const names: string[] = [];
  for (let page = 1; ; page += 1) {
    const query = `page=${page}&page_size=1000&include_fields=custom_identifier`;
    const { results } = await listSpans(client, { log_type: "chat" }, query);
    if (results.length === 0) return names;
    names.push(...results.map(nameOf));
  }
}

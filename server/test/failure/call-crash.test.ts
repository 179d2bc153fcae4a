import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { completion, done, helloStream, question, usageChunk } from "../support/chat.ts";
import { retrieveCustomer } from "../support/customers.ts";
import { answers, startScriptedUpstream, streams, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { newDataDir, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { listSpans, settle } from "../support/spans.ts";
import type { Row, TestClient } from "../support/test-client.ts";

/** Calls through the gateway while the process is killed: each completely sent response has exactly one span. */

const dataDir = newDataDir();
let upstream: ScriptedUpstream;
let server: ServerProcess | undefined;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.script(async (connection, request) => {
    await sleep(Math.random() * 20);
    const { stream, model } = JSON.parse(request.body) as Row;
    if (model === "gpt-4o-mini") return answers(400, { error: { message: "no" } })(connection, request);
    const reply = stream === true ? streams(...helloStream, usageChunk(), done) : answers(200, completion());
    return reply(connection, request);
  });
});
afterAll(async () => {
  server?.child.kill("SIGKILL");
  await upstream.stop();
  await dataDir.remove();
});

const rounds = 5;
const callers = 12;
const customer = "the customer";

type Ledger = { sent: Set<string>; answered: Set<string> };
const ledger: Ledger = { sent: new Set(), answered: new Set() };

/** Every way in which a call may end. */
const kinds: Row[] = [
  {},
  { stream: true },
  { customer_identifier: customer },
  { trace_unique_id: "t" },
  { model: "gpt-4o-mini" },
  { model: "gpt-4o", messages: 7 },
  { disable_log: true },
];

/** Makes calls until the server is down. */
async function call(prod: TestClient, kind: Row): Promise<void> {
  for (;;) {
    const name = randomUUID();
    const traced = kind["trace_unique_id"] === undefined ? {} : { span_unique_id: name };
    const body = { model: "gpt-4o", messages: [question], max_tokens: 10, ...kind, ...traced, custom_identifier: name };
    ledger.sent.add(name);
    try {
      const answer = await prod.post("/v1/chat/completions", body);
      if (answer.status >= 500) throw new Error(`the server answered ${answer.status}: ${answer.text}`);
      if (kind["stream"] !== true || answer.text.endsWith(done)) ledger.answered.add(name);
    } catch (error) {
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

async function start(): Promise<ServerProcess> {
  server = await startServerProcess(dataDir.path, {
    OPENAI_API_KEY: "sk-test-0123456789",
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
  });
  return server;
}

async function recalledBy({ prod }: ServerProcess): Promise<number> {
  const { text } = await prod.get("/metrics");
  return Number(/^spanway_gateway_records_recalled_total (\d+)$/m.exec(text)?.[1]);
}

test(`after ${rounds} kills under load every call that was answered has its span, once`, async () => {
  let recalled = 0;
  // Repeats until one of the kills was between a response and its entry in the journal.
  for (let round = 0; round < rounds || (recalled === 0 && round < rounds * 5); round += 1) {
    const running = await start();
    recalled += await recalledBy(running);
    const before = ledger.answered.size;
    const calls = Array.from({ length: callers }, (_, i) => call(running.prod, kinds[i % kinds.length] ?? {}));
    while (ledger.answered.size < before + 30) await sleep(1);
    await sleep(Math.random() * 100);
    await running.kill("SIGKILL");
    await Promise.all(calls);
  }
  const last = await start();
  recalled += await recalledBy(last);
  expect(recalled).toBeGreaterThan(0);
  await settle(last.prod);
  const spans = await spansOf(last.prod);
  const names = spans.map((span) => String(span["custom_identifier"]));
  const stored = new Set(names);
  expect([...ledger.answered].filter((name) => !stored.has(name))).toEqual([]);
  expect(stored.size).toBe(names.length);
  expect(names.filter((name) => !ledger.sent.has(name))).toEqual([]);

  // No call is charged without a span.
  const costs = spans.filter((span) => span["customer_identifier"] === customer).map((span) => Number(span["cost"]));
  const spent = Number((await retrieveCustomer(last.prod, customer))["total_usage"]);
  expect(costs.length).toBeGreaterThan(0);
  expect(spent).toBeLessThanOrEqual(costs.reduce((sum, cost) => sum + cost, 0) + 1e-9);
  expect(await last.kill("SIGTERM")).toEqual({ code: 0 });
}, 120_000);

async function spansOf(client: TestClient): Promise<Row[]> {
  const spans: Row[] = [];
  for (let page = 1; ; page += 1) {
    const query = `page=${page}&page_size=1000&include_fields=custom_identifier,customer_identifier,cost`;
    const { results } = await listSpans(client, { log_method: "gateway" }, query);
    if (results.length === 0) return spans;
    spans.push(...results);
  }
}

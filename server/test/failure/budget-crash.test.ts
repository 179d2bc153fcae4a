import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openControlDatabase, type ControlLocation } from "../../src/storage/control/open-control-database.ts";
import { startTestClickHouse } from "../support/clickhouse-http-server.ts";
import { completion, question } from "../support/chat.ts";
import { retrieveCustomer } from "../support/customers.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { answers, startScriptedUpstream, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { newDataDir, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { settle, summarize } from "../support/spans.ts";
import type { Answer, Row } from "../support/test-client.ts";

/** Budgets while processes are killed, and while several processes share them. */

let upstream: ScriptedUpstream;
let receiver: Receiver;
const cleanup: Array<() => Promise<unknown>> = [];
beforeAll(async () => {
  [upstream, receiver] = [await startScriptedUpstream(), await startReceiver()];
});
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});
afterAll(async () => {
  await upstream.stop();
  await receiver.close();
});

// gpt-4o costs 10 USD per million output tokens: 0.004 USD, and almost nothing for the input.
const outputTokens = 399;
const callCost = outputTokens * 1e-5 + 2.5e-6;
const costly = () => answers(200, completion({ usage: { prompt_tokens: 1, completion_tokens: outputTokens } }));

const call = (server: ServerProcess, customer: string, params: Row = {}): Promise<Answer> =>
  server.prod.post("/api/chat/completions", {
    model: "gpt-4o",
    messages: [question],
    max_tokens: outputTokens,
    customer_identifier: customer,
    customer_params: { customer_identifier: customer, ...params },
  });
const statusesOf = async (calls: Array<Promise<Answer>>) => (await Promise.all(calls)).map(({ status }) => status);
const count = (statuses: readonly number[], status: number) => statuses.filter((each) => each === status).length;

const settings = () => ({
  SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
  OPENAI_API_KEY: "sk-upstream-0123456789",
  OPENAI_BASE_URL: `${upstream.url}/v1`,
});

async function start(path: string, more: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startServerProcess(path, { ...settings(), ...more });
  cleanup.push(() => server.kill("SIGKILL"));
  return server;
}

function newFolder(): string {
  const folder = newDataDir();
  cleanup.push(() => folder.remove());
  return folder.path;
}

async function listen(server: ServerProcess, path: string): Promise<void> {
  const hook = { name: "Budgets", url: receiver.url + path, event_type: "customer_budget_limit_reached" };
  expect((await server.prod.post("/api/webhooks/", hook)).status).toBe(201);
}

/** Moves reservations and claims of dead nodes half a minute into the past, after which they must have expired. */
async function passHolds(location: ControlLocation): Promise<void> {
  const database = openControlDatabase(location);
  const earlier = (iso: string) => new Date(Date.parse(iso) - 30_000).toISOString();
  try {
    await database.transaction(async (queries) => {
      for (const { id, expires_at } of await queries.selectFrom("customer_reservations").selectAll().execute()) {
        const passed = { expires_at: earlier(expires_at) };
        await queries.updateTable("customer_reservations").set(passed).where("id", "=", id).execute();
      }
      for (const { id, next_attempt_at } of await queries.selectFrom("webhook_deliveries").selectAll().execute()) {
        if (next_attempt_at === null) continue;
        const passed = { next_attempt_at: earlier(next_attempt_at) };
        await queries.updateTable("webhook_deliveries").set(passed).where("id", "=", id).execute();
      }
    });
  } finally {
    await database.close();
  }
}

test("if a call was refused because a budget is used up, webhooks are notified once, whenever the process dies", async () => {
  const path = newFolder();
  const rounds = 2;
  const perRound = 40;
  const refused = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const server = await start(path);
    if (round === 0) await listen(server, "/reached");
    const customers = Array.from({ length: perRound }, (_, i) => `round ${round} customer ${i}`);
    // A budget of 0: the call is refused, and the budget used up, before any provider is called.
    const calls = customers.map(async (customer) => {
      const answer = await call(server, customer, { total_budget: 0 }).catch(() => undefined);
      if (answer?.status !== 429) return;
      refused.add(customer);
      if (refused.size === round * perRound + 5) server.child.kill("SIGKILL");
    });
    await Promise.all(calls);
    await server.kill("SIGKILL");
    expect(refused.size).toBeGreaterThanOrEqual(round * perRound + 5);
  }
  await passHolds({ kind: "sqlite", path: join(path, "control.db") });
  const server = await start(path);
  const notifiedCustomers = () => receiver.on("/reached").map(({ json }) => String(json["customer_identifier"]));
  const missing = () => [...refused].filter((customer) => !notifiedCustomers().includes(customer));
  await expect.poll(missing, { timeout: 20_000, interval: 100 }).toEqual([]);
  // Customers of calls without a response may have been reported; now all are.
  const all = Array.from({ length: rounds * perRound }, (_, i) => {
    return `round ${Math.floor(i / perRound)} customer ${i % perRound}`;
  });
  expect(count(await statusesOf(all.map((name) => call(server, name, { total_budget: 0 }))), 429)).toBe(all.length);
  await expect.poll(() => new Set(notifiedCustomers()).size, { timeout: 20_000, interval: 100 }).toBe(all.length);
  const ids = receiver.on("/reached").map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids).size).toBe(all.length);
}, 90_000);

test("reservations of a process that dies are released, and spending stays", async () => {
  const path = newFolder();
  const first = await start(path);
  upstream.script(costly());
  // Two calls are settled, two are in progress at the kill, of five that fit into the budget.
  const params = { total_budget: 5.1 * callCost };
  expect(await statusesOf([call(first, "dies", params), call(first, "dies", params)])).toEqual([200, 200]);
  await expect
    .poll(async () => (await retrieveCustomer(first.prod, "dies"))["total_usage"], { timeout: 5_000 })
    .toBeCloseTo(2 * callCost, 9);
  upstream.script(async (connection) => {
    await connection.closed(20_000);
    return "close";
  });
  const before = upstream.requests.length;
  const hanging = [call(first, "dies"), call(first, "dies")].map((each) => each.catch(() => undefined));
  await expect.poll(() => upstream.requests.length - before, { timeout: 5_000, interval: 10 }).toBe(2);
  await first.kill("SIGKILL");
  await Promise.all(hanging);

  const second = await start(path);
  upstream.script(costly());
  // One fits: the next process has to assume that the hanging calls cost something.
  const statuses = await statusesOf([call(second, "dies"), call(second, "dies")]);
  expect([count(statuses, 200), count(statuses, 429)]).toEqual([1, 1]);
  await passHolds({ kind: "sqlite", path: join(path, "control.db") });
  const after = await statusesOf(Array.from({ length: 6 }, () => call(second, "dies")));
  // A third call may use the rest once two are settled.
  const passed = count(after, 200);
  expect([2, 3]).toContain(passed);
  await expect
    .poll(async () => (await retrieveCustomer(second.prod, "dies"))["total_usage"], { timeout: 5_000 })
    .toBeCloseTo((3 + passed) * callCost, 9);
}, 60_000);

test("calls that were answered just before a process died count once", async () => {
  const path = newFolder();
  const first = await start(path);
  upstream.script(costly());
  const params = { total_budget: 1_000 * callCost };
  expect((await call(first, "answered", params)).status).toBe(200);
  let answered = 1;
  const calls = Array.from({ length: 24 }, async () => {
    const answer = await call(first, "answered").catch(() => undefined);
    if (answer?.status !== 200) return;
    answered += 1;
    first.child.kill("SIGKILL");
  });
  await Promise.all(calls);
  await first.kill("SIGKILL");
  const second = await start(path);
  await settle(second.prod);
  // Recorded calls are charged, whether or not their response arrived.
  const recorded = Number((await summarize(second.prod, { customer_identifier: "answered" }))["number_of_requests"]);
  expect(recorded).toBeGreaterThanOrEqual(answered);
  await expect
    .poll(async () => (await retrieveCustomer(second.prod, "answered"))["total_usage"], { timeout: 5_000 })
    .toBeCloseTo(recorded * callCost, 9);
}, 60_000);

describe.skipIf(postgresUrl === undefined)(`two nodes over one Postgres${postgresSkipReason}`, () => {
  test("together spend a budget once, also if one dies during calls, and notify once", async () => {
    const [clickhouse, database] = [await startTestClickHouse(), await createPostgresDatabase()];
    cleanup.push(() => database.drop());
    cleanup.push(() => clickhouse.stop());
    const stores = {
      SPANWAY_SPANS_URL: clickhouse.url,
      SPANWAY_CONTROL_URL: database.url.reveal(),
      SPANWAY_SECRET_KEY: "a secret that both nodes know",
    };
    const [one, other] = await Promise.all([start(newFolder(), stores), start(newFolder(), stores)]);
    await listen(one, "/shared");
    // The other node learns of webhooks with a delay.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const customer = { period_budget: 10.5 * callCost, budget_duration: "daily" };
    upstream.script(costly());
    const opened = await call(one, "shared", customer);
    expect(opened.status).toBe(200);

    // The other node dies with four calls in progress.
    const hangs: string[] = [];
    upstream.script(async (connection, request) => {
      hangs.push(request.path);
      await connection.closed(20_000);
      return "close";
    });
    const hanging = Array.from({ length: 4 }, () => call(other, "shared", customer).catch(() => undefined));
    await expect.poll(() => hangs.length, { timeout: 5_000, interval: 10 }).toBe(4);
    await other.kill("SIGKILL");
    await Promise.all(hanging);

    upstream.script(costly());
    const again = await start(newFolder(), stores);
    const callBoth = (calls: number) =>
      statusesOf(Array.from({ length: calls }, (_, i) => call(i % 2 === 0 ? one : again, "shared", customer)));
    // Ten fit: one is spent, and four are reserved.
    expect(count(await callBoth(20), 200)).toBe(5);
    await passHolds({ kind: "postgres", url: database.url });
    expect([4, 5]).toContain(count(await callBoth(20), 200));
    // One more call uses the rest, once none is in progress.
    const usage = async () => {
      await call(one, "shared", customer);
      return Number((await retrieveCustomer(one.prod, "shared"))["total_period_usage"]);
    };
    await expect.poll(usage, { timeout: 5_000 }).toBeCloseTo(11 * callCost, 9);
    expect(count(await callBoth(4), 429)).toBe(4);
    // At the latest when the claim of the dead node expires.
    await expect.poll(() => receiver.on("/shared").length, { timeout: 80_000 }).toBeGreaterThan(0);
    const ids = new Set(receiver.on("/shared").map(({ headers }) => headers["webhook-id"]));
    expect([ids.size, receiver.on("/shared")[0]?.json["budget"]]).toEqual([1, "period_budget"]);
    expect(((await one.prod.get("/api/webhooks/")).json as { skipped_events: number }[])[0]?.skipped_events).toBe(0);
  }, 150_000);
});

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { customersLimits } from "../../src/customers/limits.ts";
import { completion, question } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { answers } from "../support/scripted-upstream.ts";
import { bodyOf } from "../support/spans.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { newDataDir, startServerProcess } from "../support/server-process.ts";
import { createClient, type Row, type TestClient } from "../support/test-client.ts";

// gpt-4o costs 10 USD per million output tokens: 0.004 USD, and almost nothing for the input.
const outputTokens = 399;
const callCost = outputTokens * 1e-5 + 2.5e-6;
const staleS = 15;

describe.skipIf(postgresUrl === undefined)(`N6: while Postgres does not respond${postgresSkipReason}`, () => {
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let proxy: TcpProxy;
  let gateway: TestGateway;
  let prod: TestClient;
  beforeAll(async () => {
    database = await createPostgresDatabase();
    proxy = await startTcpProxy(database.url.reveal());
    const settings = { SPANWAY_CONTROL_URL: proxy.url, SPANWAY_STALE_SECONDS: String(staleS) };
    gateway = await startTestGateway({ ...settings, SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
  });
  beforeEach(async () => {
    ({ prod } = await gateway.app.newOrganization());
    const usage = { prompt_tokens: 1, completion_tokens: outputTokens };
    gateway.upstream.script(answers(200, completion({ usage })));
  });
  afterEach(isUp);
  afterAll(async () => {
    await gateway.stop();
    await proxy.stop();
    await database.drop();
  });

  const call = (customer?: string, more: Row = {}, client = prod) =>
    client.post("/api/chat/completions", {
      model: "gpt-4o",
      messages: [question],
      max_tokens: outputTokens,
      ...(customer !== undefined && { customer_identifier: customer }),
      ...more,
    });
  const metric = async (name: string) => {
    const { text } = await prod.get("/metrics");
    const line = text.split("\n").find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  };
  const ready = async (query = "") => (await prod.get(`/readyz${query}`)).status;
  const isDown = () =>
    expect.poll(() => metric("spanway_control_down_seconds"), { timeout: 10_000 }).toBeGreaterThan(0);
  async function isUp(): Promise<void> {
    proxy.resume();
    await expect.poll(() => metric("spanway_control_down_seconds"), { timeout: 20_000 }).toBe(0);
    await expect.poll(() => ready("?reads=true"), { timeout: 20_000 }).toBe(200);
  }
  /** Makes the cached data of a node too old to be used while the store responds. */
  const outdate = () => sleep(customersLimits.cachedCustomerMs + 500);

  test.each(["disconnect", "hang"] as const)(
    "%s: spans and calls continue with cached settings, and within the rest of the budgets",
    async (fault) => {
      const lab = { provider: "openai", api_key: "sk-of-the-organization", base_url: `${gateway.upstream.url}/v1` };
      expect((await prod.post("/api/providers/", lab)).status).toBe(201);
      const customer = randomUUID();
      const budget = { period_budget: callCost * 3.5, budget_duration: "yearly" };
      expect((await call(customer, { customer_params: { customer_identifier: customer, ...budget } })).status).toBe(
        200,
      );
      await outdate();
      proxy[fault]();
      await isDown();
      expect([await ready(), await ready("?reads=true")]).toEqual([200, 503]);

      const name = randomUUID();
      const began = performance.now();
      expect(
        (await prod.post("/api/request-logs/", { custom_identifier: name, customer_identifier: "new" })).status,
      ).toBe(201);
      expect((await call()).status).toBe(200);
      expect(gateway.upstream.requests.at(-1)?.headers["authorization"]).toBe("Bearer sk-of-the-organization");
      const calls = [await call(customer), await call(customer), await call(customer), await call(customer)];
      // 1 of 3.5 was spent before; the last call uses the rest, which is half of its cost.
      expect(calls.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
      expect(calls.at(-1)?.json).toMatchObject({ error: { type: "budget_exceeded" } });
      expect(performance.now() - began).toBeLessThan(5_000);
      for (const kind of ["provider_settings", "customer", "budget"])
        expect([kind, await metric(`spanway_control_stale_total{kind="${kind}"}`)]).not.toEqual([kind, 0]);
      // The node does not know whether this key exists.
      expect((await createClient(gateway.app.url, "spw_prod_unknown0123456789").get("/api/webhooks/")).status).toBe(
        503,
      );

      await isUp();
      expect((await call(customer)).status).toBe(429);
      await prod.waitForSpans(1, { custom_identifier: name });
      // The ledger knows it from the spans.
      await expect
        .poll(async () => bodyOf(await prod.get(`/api/users/${customer}/`))["total_period_usage"], { timeout: 20_000 })
        .toBeCloseTo(callCost * 4, 6);
      expect((await call(customer)).status).toBe(429);
    },
    90_000,
  );

  test("a node enforces the budget of a customer that it had no call of, and accepts calls of customers without limits", async () => {
    const poor = randomUUID();
    expect((await call(poor)).status).toBe(200);
    const budget = { total_budget: callCost * 2.5 };
    expect((await prod.request("PATCH", `/api/users/${poor}/`, budget)).status).toBe(200);
    // The ledger begins with the budget.
    expect((await call(poor)).status).toBe(200);
    const folder = newDataDir();
    const second = await startServerProcess(folder.path, {
      SPANWAY_CONTROL_URL: proxy.url,
      SPANWAY_SECRET_KEY: readFileSync(join(gateway.app.dataDir, "secret.key"), "utf8").trim(),
      SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
      OPENAI_API_KEY: "sk-of-the-server",
      OPENAI_BASE_URL: `${gateway.upstream.url}/v1`,
    });
    try {
      const other = createClient(second.url, prod.authorization.slice("Bearer ".length));
      expect((await call(undefined, {}, other)).status).toBe(200);
      proxy.disconnect();
      await expect.poll(() => second.output(), { timeout: 10_000 }).toContain("the control store does not answer");
      const statuses = [];
      for (const customer of [poor, poor, randomUUID()]) statuses.push((await call(customer, {}, other)).status);
      expect(statuses).toEqual([200, 429, 200]);
      await isUp();
      await expect.poll(() => second.output(), { timeout: 10_000 }).toContain("the control store answers again");
    } finally {
      await second.kill("SIGKILL");
      await folder.remove();
    }
  }, 90_000);

  test("cached data expires after SPANWAY_STALE_SECONDS, and is valid again once the store responds", async () => {
    expect((await call()).status).toBe(200);
    await outdate();
    proxy.disconnect();
    await isDown();
    expect((await call()).status).toBe(200);
    await expect.poll(() => ready(), { timeout: staleS * 2_000 }).toBe(503);
    expect((await prod.get("/readyz")).json).toMatchObject({ checks: { control: "has not answered for too long" } });
    expect((await call()).status).toBe(503);
    await isUp();
    expect((await call()).status).toBe(200);
  }, 90_000);
});

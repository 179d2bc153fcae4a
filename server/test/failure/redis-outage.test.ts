import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { completion, question } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { hasRedis, redisSkipReason, startOwnRedis, type OwnRedis } from "../support/redis.ts";
import { answers } from "../support/scripted-upstream.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import type { TestClient } from "../support/test-client.ts";

describe.skipIf(!hasRedis)(`Redis that does not respond, or has lost all data${redisSkipReason}`, () => {
  let redis: OwnRedis;
  let proxy: TcpProxy;
  let gateway: TestGateway;
  let prod: TestClient;
  beforeAll(async () => {
    redis = await startOwnRedis();
    proxy = await startTcpProxy(redis.url);
    gateway = await startTestGateway({ SPANWAY_CACHE_URL: proxy.url, SPANWAY_API_PER_MINUTE: "1000" });
    gateway.upstream.script(answers(200, completion()));
  });
  beforeEach(async () => {
    ({ prod } = await gateway.app.newOrganization());
  });
  afterAll(async () => {
    await gateway.stop();
    await proxy.stop();
    await redis.stop();
  });

  const customer = randomUUID();
  const params = { customer_identifier: customer, rate_limit: 100 };
  const call = () =>
    prod.post("/api/chat/completions", {
      model: "gpt-4o",
      messages: [question],
      cache_enabled: true,
      customer_identifier: customer,
      customer_params: params,
    });

  const faults = {
    "cut off": { begin: () => proxy.disconnect(), end: () => proxy.resume() },
    "behind a network that hangs": { begin: () => proxy.hang(), end: () => proxy.resume() },
    stopped: { begin: () => redis.signal("SIGSTOP"), end: () => redis.signal("SIGCONT") },
    // After a restart it is empty, and has no scripts.
    killed: { begin: () => redis.kill(), end: () => redis.start() },
  };

  test.each(Object.entries(faults))(
    "%s: calls, spans and rate-limited routes continue, and none waits for long",
    async (_name, { begin, end }) => {
      expect((await call()).status).toBe(200);
      await begin();
      const began = performance.now();
      for (let n = 0; n < 3; n += 1) {
        expect((await call()).status).toBe(200);
        expect((await prod.post("/api/request-logs/", { custom_identifier: "x" })).status).toBe(201);
        expect((await prod.get("/api/webhooks/")).status).toBe(200);
      }
      expect((await prod.get("/readyz")).status).toBe(200);
      expect(performance.now() - began).toBeLessThan(10_000);
      await end();
      await expect
        .poll(async () => (await call()).headers.get("x-spanway-cache"), { timeout: 20_000, interval: 500 })
        .toBe("hit");
    },
    60_000,
  );

  test("an empty Redis causes new provider calls, and counts from zero", async () => {
    expect((await call()).headers.get("x-spanway-cache")).toBe("miss");
    expect((await call()).headers.get("x-spanway-cache")).toBe("hit");
    const client = new Redis(redis.url);
    expect(await client.dbsize()).toBeGreaterThan(0);
    await client.flushall();
    await client.quit();
    expect((await call()).headers.get("x-spanway-cache")).toBe("miss");
    expect((await call()).headers.get("x-spanway-cache")).toBe("hit");
  });
});

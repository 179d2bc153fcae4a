import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { completion, question } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers } from "../support/scripted-upstream.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import type { TestClient } from "../support/test-client.ts";

const redisUrl = process.env["SPANWAY_TEST_REDIS_URL"];
/** A database of its own on the test server. */
const ownUrl = `${redisUrl ?? ""}/7`;
const skipReason = redisUrl === undefined ? " (skipped: SPANWAY_TEST_REDIS_URL is not set)" : "";

describe.skipIf(redisUrl === undefined)(`Redis that does not answer, or has forgotten all${skipReason}`, () => {
  let proxy: TcpProxy;
  let gateway: TestGateway;
  let prod: TestClient;
  beforeAll(async () => {
    proxy = await startTcpProxy(ownUrl);
    gateway = await startTestGateway({ SPANWAY_CACHE_URL: proxy.url, SPANWAY_API_PER_MINUTE: "1000" });
    gateway.upstream.script(answers(200, completion()));
  });
  beforeEach(async () => {
    ({ prod } = await gateway.app.newOrganization());
  });
  afterAll(async () => {
    await gateway.stop();
    await proxy.stop();
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

  test.each(["cut", "hang"] as const)(
    "%s: calls, spans and limited routes go on, and none waits for long",
    async (fault) => {
      expect((await call()).status).toBe(200);
      proxy[fault]();
      const began = performance.now();
      for (let n = 0; n < 3; n += 1) {
        expect((await call()).status).toBe(200);
        expect((await prod.post("/api/request-logs/", { custom_identifier: "x" })).status).toBe(201);
        expect((await prod.get("/api/webhooks/")).status).toBe(200);
      }
      expect((await prod.get("/readyz")).status).toBe(200);
      expect(performance.now() - began).toBeLessThan(10_000);
      proxy.resume();
      await expect
        .poll(async () => (await call()).headers.get("x-spanway-cache"), { timeout: 20_000, interval: 500 })
        .toBe("hit");
    },
    60_000,
  );

  test("one that has forgotten all asks the provider again, and counts from nothing", async () => {
    expect((await call()).headers.get("x-spanway-cache")).toBe("miss");
    expect((await call()).headers.get("x-spanway-cache")).toBe("hit");
    const redis = new Redis(ownUrl);
    expect(await redis.dbsize()).toBeGreaterThan(0);
    await redis.flushdb();
    await redis.quit();
    expect((await call()).headers.get("x-spanway-cache")).toBe("miss");
    expect((await call()).headers.get("x-spanway-cache")).toBe("hit");
  });
});

import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { createCallRates, type CallRates } from "./call-rates.ts";

const newKey = () => ({ organization_id: randomUUID(), environment: "prod", customer_identifier: "ann" }) as const;
const ignore = () => undefined;

async function countAll(rates: readonly CallRates[], perMinute: number): Promise<boolean[]> {
  const key = newKey();
  const passed: boolean[] = [];
  for (const each of rates) passed.push((await each.count(key, perMinute)) === undefined);
  return passed;
}

describe("calls per minute", () => {
  test("are counted for each customer with its own limit", async () => {
    const rates = createCallRates({ onStoreFailure: ignore });
    expect(await countAll([rates, rates, rates], 2)).toEqual([true, true, false]);
    expect(await countAll([rates], 0)).toEqual([false]);
    const key = newKey();
    await rates.count(key, 1);
    expect(await rates.count(key, 1)).toBeGreaterThan(50);
    expect(await rates.count({ ...key, environment: "test" }, 1)).toBeUndefined();
    expect(await rates.count(key, 100)).toBeUndefined();
  });

  test("are counted on each node if Redis is unavailable, and that is reported", async () => {
    const redis = new Redis("redis://127.0.0.1:1", {
      lazyConnect: true,
      enableOfflineQueue: false,
      retryStrategy: () => null,
    });
    redis.on("error", ignore);
    let failures = 0;
    const rates = createCallRates({ redis, onStoreFailure: () => (failures += 1) });
    expect(await countAll([rates, rates], 1)).toEqual([true, false]);
    expect(failures).toBe(2);
    redis.disconnect();
  });

  const url = process.env["SPANWAY_TEST_REDIS_URL"];
  test.skipIf(url === undefined)("are counted across all nodes through Redis", async () => {
    const redis = new Redis(url ?? "");
    await redis.ping();
    const [one, other] = [1, 2].map(() => createCallRates({ redis, onStoreFailure: ignore })) as [CallRates, CallRates];
    expect(await countAll([one, other, one], 2)).toEqual([true, true, false]);
    redis.disconnect();
  });
});

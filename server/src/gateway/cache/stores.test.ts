import { Redis } from "ioredis";
import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { gatewayLimits } from "../limits.ts";
import { createByteBox } from "../../auth/sealed-box.ts";
import { Secret } from "../../lib/secret.ts";
import type { CachedAnswer } from "./answer-store.ts";
import { createMemoryStore } from "./memory-store.ts";
import { createRedisStore, type RedisCommands } from "./redis-store.ts";

const box = createByteBox(new Secret("0123456789abcdef0123456789abcdef"), "kept answers");

function answer(body: string, keptAtMs = 0): CachedAnswer {
  return { body: Buffer.from(body), provider: "openai", model: "gpt-4o", adjusted: ["seed"], keptAtMs };
}

describe("Answers in memory", () => {
  const open = (): { store: ReturnType<typeof createMemoryStore>; clock: { ms: number }; evicted: () => number } => {
    const clock = { ms: 0 };
    let evictions = 0;
    const store = createMemoryStore({ now: () => clock.ms, onEviction: () => (evictions += 1) });
    return { store, clock, evicted: () => evictions };
  };

  test("expire exactly at their TTL", async () => {
    const { store, clock } = open();
    store.keep("a", answer("1"), 1_000);
    clock.ms = 999;
    expect(await store.find(["a"], 0)).toEqual({ key: "a", answer: answer("1") });
    clock.ms = 1_000;
    expect(await store.find(["a"], 0)).toBeUndefined();
    expect(store.size()).toEqual({ entries: 0, bytes: 0 });
  });

  test("are found under the first key with a recent enough answer", async () => {
    const { store } = open();
    store.keep("old", answer("old", 10), 1_000);
    store.keep("new", answer("new", 20), 1_000);
    expect((await store.find(["none", "old", "new"], 10))?.key).toBe("old");
    expect((await store.find(["none", "old", "new"], 11))?.key).toBe("new");
    expect(await store.find(["old", "new"], 21)).toBeUndefined();
  });

  test("replace each other under one key", async () => {
    const { store } = open();
    store.keep("a", answer("x".repeat(100)), 1_000);
    const { bytes } = store.size();
    store.keep("a", answer("y".repeat(100)), 1_000);
    expect(store.size()).toEqual({ entries: 1, bytes });
    expect(String((await store.find(["a"], 0))?.answer.body)).toBe("y".repeat(100));
  });

  test("stay within the byte limit: the least recently used ones are dropped", async () => {
    const { store, evicted } = open();
    const body = "x".repeat(gatewayLimits.cacheEntryBytes);
    const stored = Math.floor(gatewayLimits.cacheMemoryBytes / gatewayLimits.cacheEntryBytes) - 1;
    for (let i = 0; i < stored; i += 1) store.keep(String(i), answer(body), 1_000);
    expect(evicted()).toBe(0);
    await store.find(["0"], 0);
    for (let i = stored; i < stored + 10; i += 1) store.keep(String(i), answer(body), 1_000);
    expect(store.size().bytes).toBeLessThanOrEqual(gatewayLimits.cacheMemoryBytes);
    expect(evicted()).toBe(stored + 10 - store.size().entries);
    expect(evicted()).toBeGreaterThan(0);
    expect(await store.find(["1"], 0)).toBeUndefined();
    expect((await store.find(["0"], 0))?.key).toBe("0");
  });

  test("stay within the entry limit", () => {
    const { store, evicted } = open();
    for (let i = 0; i < gatewayLimits.cacheMemoryEntries + 5; i += 1) store.keep(String(i), answer(""), 1_000);
    expect([store.size().entries, evicted()]).toEqual([gatewayLimits.cacheMemoryEntries, 5]);
  });

  test("are copies: no larger buffer is retained, and later changes do not affect them", async () => {
    const { store } = open();
    const large = Buffer.alloc(64 * 1024, "x");
    store.keep("a", { ...answer(""), body: large.subarray(0, 3) }, 1_000);
    large.fill("y");
    const body = (await store.find(["a"], 0))?.answer.body;
    expect([String(body), body?.buffer.byteLength]).toEqual(["xxx", 3]);
  });
});

describe("Answers in Redis", () => {
  const url = process.env["SPANWAY_TEST_REDIS_URL"];
  const skipReason =
    url === undefined ? " (skipped: SPANWAY_TEST_REDIS_URL is not set, scripts/test-services.sh starts a Redis)" : "";
  const clients: Redis[] = [];
  const connect = async (): Promise<Redis> => {
    const client = new Redis(url ?? "");
    clients.push(client);
    await client.ping();
    return client;
  };
  afterAll(() => {
    for (const client of clients) client.disconnect();
  });
  const never = (): void => {
    throw new Error("not expected");
  };
  const eventually = async (found: () => Promise<unknown>): Promise<void> => {
    await expect.poll(found, { timeout: 2_000, interval: 10 }).toBeDefined();
  };

  test.skipIf(url === undefined)(`are found by other nodes, compressed, and expire${skipReason}`, async () => {
    const [one, other] = [await connect(), await connect()].map((redis) =>
      createRedisStore({ redis, box, onFailure: never, onSkip: never }),
    );
    const key = randomUUID();
    const text = "Hello. ".repeat(10_000);
    one!.keep(key, answer(text, 5), 60_000);
    await eventually(() => other!.find(["none", key], 5));
    expect(await other!.find(["none", key], 5)).toEqual({ key, answer: answer(text, 5) });
    expect(await other!.find([key], 6)).toBeUndefined();
    const [redis] = clients;
    expect(await redis!.strlen(`spanway:answer:2:${key}`)).toBeLessThan(text.length / 10);
    expect(await redis!.pttl(`spanway:answer:2:${key}`)).toBeGreaterThan(50_000);
    one!.keep(key, answer(text, 5), 1);
    await expect.poll(() => other!.find([key], 5), { timeout: 2_000, interval: 10 }).toBeUndefined();
  });

  test("are sealed, each for its own key: moved or changed ones are not returned", async () => {
    const stored = new Map<string, Buffer>();
    const redis: RedisCommands = {
      mgetBuffer: (...keys) => Promise.resolve(keys.map((key) => stored.get(key) ?? null)),
      set: (key, value) => Promise.resolve(stored.set(key, value)),
    };
    let failures = 0;
    const store = createRedisStore({ redis, box, onFailure: () => (failures += 1), onSkip: never });
    const secretText = "What nobody but its organization may read. ";
    store.keep("mine", answer(secretText), 60_000);
    expect(await store.find(["mine"], 0)).toEqual({ key: "mine", answer: answer(secretText) });
    const [name = "", sealed = Buffer.alloc(0)] = [...stored][0] ?? [];
    // Neither plain text nor gzip that anybody could decompress.
    expect(sealed.includes(secretText.slice(0, 12))).toBe(false);
    expect(sealed.subarray(28).includes(Buffer.from([0x1f, 0x8b, 0x08]))).toBe(false);
    stored.set(name.replace("mine", "theirs"), sealed);
    expect(await store.find(["theirs"], 0)).toBeUndefined();
    stored.set(name, Buffer.concat([sealed.subarray(0, -1), Buffer.from([(sealed.at(-1) ?? 0) ^ 1])]));
    expect(await store.find(["mine"], 0)).toBeUndefined();
    const other = createByteBox(new Secret("another secret of an instance"), "kept answers");
    stored.set(name, sealed);
    expect(
      await createRedisStore({ redis, box: other, onFailure: () => (failures += 1), onSkip: never }).find(["mine"], 0),
    ).toBeUndefined();
    expect(failures).toBe(3);
  });

  test.skipIf(url === undefined)(`that cannot be read count as misses${skipReason}`, async () => {
    const redis = await connect();
    let failures = 0;
    const store = createRedisStore({ redis, box, onFailure: () => (failures += 1), onSkip: never });
    const key = randomUUID();
    await redis.set(`spanway:answer:2:${key}`, "not gzip", "PX", 60_000);
    expect(await store.find([key], 0)).toBeUndefined();
    expect(failures).toBe(1);
  });

  test("are misses while Redis is unreachable, which is counted and not an error", async () => {
    const redis = new Redis({ host: "127.0.0.1", port: 1, maxRetriesPerRequest: 1, enableOfflineQueue: false });
    redis.on("error", () => undefined);
    let failures = 0;
    const store = createRedisStore({ redis, box, onFailure: () => (failures += 1), onSkip: never });
    store.keep("a", answer("1"), 1_000);
    expect(await store.find(["a"], 0)).toBeUndefined();
    await expect.poll(() => failures, { timeout: 2_000, interval: 10 }).toBe(2);
    redis.disconnect();
  });

  test("are misses while Redis hangs: waits are short and bounded", async () => {
    let lookups = 0;
    let written = 0;
    const silent: RedisCommands = {
      mgetBuffer: () => new Promise(() => (lookups += 1)),
      set: () => new Promise(() => (written += 1)),
    };
    let failures = 0;
    let skipped = 0;
    const store = createRedisStore({
      redis: silent,
      box,
      onFailure: () => (failures += 1),
      onSkip: () => (skipped += 1),
    });
    const startedMs = performance.now();
    const calls = gatewayLimits.cacheReadsInFlight + 10;
    const found = await Promise.all(Array.from({ length: calls }, () => store.find(["a"], 0)));
    expect(performance.now() - startedMs).toBeLessThan(gatewayLimits.cacheReadMs + 1_000);
    expect(found.every((answer) => answer === undefined)).toBe(true);
    expect([lookups, failures]).toEqual([gatewayLimits.cacheReadsInFlight, calls]);
    const body = "x".repeat(gatewayLimits.cacheWriteBytesInFlight / 4);
    for (let i = 0; i < 6; i += 1) store.keep("a", answer(body), 1_000);
    expect(skipped).toBe(2);
    await expect.poll(() => written, { timeout: 5_000, interval: 20 }).toBe(4);
  });
});

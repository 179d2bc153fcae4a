import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chunk, completion, done, helloStream } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, streams } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Answer, Row } from "../support/test-client.ts";

const url = process.env["SPANWAY_TEST_REDIS_URL"];
const skipReason =
  url === undefined ? " (skipped: SPANWAY_TEST_REDIS_URL is not set, scripts/test-services.sh starts a Redis)" : "";

describe.skipIf(url === undefined)(`The response cache in Redis${skipReason}`, () => {
  let gateway: TestGateway;
  let redis: Redis;
  beforeAll(async () => {
    redis = new Redis(url ?? "");
    gateway = await startTestGateway({ SPANWAY_CACHE_URL: url ?? "" });
  });
  afterAll(async () => {
    await gateway.stop();
    redis.disconnect();
  });

  const send = (body: Row): Promise<Answer> => gateway.app.prod.post("/api/chat/completions", body);
  const newChat = (members: Row = {}): Row => ({
    model: "gpt-4o",
    messages: [{ role: "user", content: `The secret of ${randomUUID()}` }],
    cache_enabled: true,
    cache_ttl: 60,
    ...members,
  });
  const cacheOf = (answer: Answer): string | null => answer.headers.get("x-spanway-cache");

  test("returns the same bytes again, which are not in the process's memory", async () => {
    gateway.upstream.script(answers(200, completion()));
    const body = newChat();
    const [first, again] = [await send(body), await send(body)];
    expect([cacheOf(first), cacheOf(again), again.text]).toEqual(["miss", "hit", first.text]);
    const { text } = await gateway.app.prod.get("/metrics");
    expect(text).toMatch(/^spanway_cache_bytes 0$/m);
    expect(text).toMatch(/^spanway_cache_lookups_total\{outcome="hit"\} 1$/m);
  });

  test("returns a stream for a stream, and stores nothing of an incomplete one", async () => {
    gateway.upstream.script(streams(...helloStream, done));
    const body = newChat({ stream: true });
    expect([cacheOf(await send(body)), cacheOf(await send(body))]).toEqual(["miss", "hit"]);
    gateway.upstream.script(streams(chunk({ content: "Hel" })));
    const disconnected = newChat({ stream: true });
    expect([cacheOf(await send(disconnected)), cacheOf(await send(disconnected))]).toEqual(["miss", "miss"]);
  });

  test("stores for cache_ttl under an opaque key, and ignores lost or corrupt entries", async () => {
    gateway.upstream.script(answers(200, completion()));
    const body = newChat();
    const span = await retrieveSpan(gateway.app.prod, (await send(body)).headers.get("x-spanway-log-id"));
    const key = `spanway:answer:2:${String(span["cache_key"])}`;
    expect(key).toMatch(/:[\w-]{43}$/);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(60_000);
    expect(await redis.pttl(key)).toBeGreaterThan(50_000);
    await redis.set(key, "spoilt", "PX", 60_000);
    expect([cacheOf(await send(body)), cacheOf(await send(body))]).toEqual(["miss", "hit"]);
    await redis.del(key);
    expect(cacheOf(await send(body))).toBe("miss");
  });
});

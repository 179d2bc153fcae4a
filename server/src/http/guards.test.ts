import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { addressKey, createRateLimiter } from "./rate-limit.ts";
import { bearer, keyPrincipal, startServer } from "./test-support.ts";

const shared = { summary: "A demo", tags: ["Demo"], errors: [], method: "POST" } as const;
const success = { status: 200, schema: z.unknown() } as const;

const endpoints = [
  endpoint({ ...shared, id: "keys", path: "/keys", auth: "key", success, handler: (c) => c.principal.environment }),
  endpoint({ ...shared, id: "users", path: "/users", auth: "user", success, handler: (c) => c.principal.email }),
  endpoint({ ...shared, id: "both", path: "/both", auth: "key_or_user", success, handler: (c) => c.principal.kind }),
  endpoint({
    ...shared,
    id: "write",
    path: "/write",
    auth: "key",
    permission: "spans:write",
    success,
    handler: () => "written",
  }),
  ...(["bulk_create", "bulk_delete", "api"] as const).map((limit) =>
    endpoint({
      ...shared,
      id: limit,
      path: `/limited/${limit}/`,
      aliases: [`/alias/${limit}/`],
      auth: "key_or_user",
      limit,
      success,
      handler: () => "passed",
    }),
  ),
  endpoint({
    ...shared,
    id: "public",
    path: "/public",
    auth: "none",
    limit: "public_trace",
    success,
    handler: () => "passed",
  }),
];

const call = async (server: { url: string }, path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { method: "POST", headers });

describe("credentials", () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    server = await startServer({ endpoints });
  });
  afterAll(() => server.close());

  test.each([
    ["Bearer key-a1", 200],
    ["bearer key-a1", 200],
    ["BEARER  key-a1 ", 200],
    ["Api-Key key-a1", 200],
    ["api-key key-a1", 200],
    ["Basic key-a1", 401],
    ["Bearer", 401],
    ["Bearer key a1", 401],
    ["key-a1", 401],
    ["Bearer a.b", 401],
    ["Bearer unknown", 401],
  ])("Authorization: %s is %i", async (authorization, status) => {
    expect((await call(server, "/keys", { authorization })).status).toBe(status);
  });

  test("a missing, a malformed and an unknown credential look the same", async () => {
    const answers = await Promise.all(
      [{}, { authorization: "Bearer" }, bearer("unknown"), bearer("jwt.of.nobody")].map(async (headers) => {
        const response = await call(server, "/keys", headers);
        return [response.status, response.headers.get("www-authenticate"), await response.text()];
      }),
    );
    expect(new Set(answers.map(String)).size).toBe(1);
    expect(answers[0]).toEqual([401, "Bearer", expect.stringContaining('"code":"unauthorized"')]);
  });

  test.each([
    ["/keys", "jwt.user.one", "takes an API key"],
    ["/users", "key-a1", "takes a person's access token"],
  ])("%s tells a caller with %s which credential it accepts", async (path, token, says) => {
    expect(await (await call(server, path, bearer(token))).text()).toContain(says);
  });

  test.each([
    ["/keys", "key-a1", 200],
    ["/keys", "jwt.user.one", 401],
    ["/users", "jwt.user.one", 200],
    ["/users", "key-a1", 401],
    ["/both", "key-a1", 200],
    ["/both", "jwt.user.one", 200],
  ])("%s with %s is %i", async (path, token, status) => {
    expect((await call(server, path, bearer(token))).status).toBe(status);
  });

  test("a missing permission is 403 and named", async () => {
    expect((await call(server, "/write", bearer("key-a1"))).status).toBe(200);
    const response = await call(server, "/write", bearer("key-read-only"));
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      code: "forbidden",
      detail: expect.stringContaining("spans:write"),
    });
  });
});

describe("rate limits", () => {
  const statuses = async (server: { url: string }, calls: [path: string, token: string | undefined][]) => {
    const seen: number[] = [];
    for (const [path, token] of calls) {
      seen.push((await call(server, path, token === undefined ? {} : bearer(token))).status);
    }
    return seen;
  };
  const withServer = async (
    perMinute: Parameters<typeof startServer>[0]["perMinute"],
    work: (server: Awaited<ReturnType<typeof startServer>>) => Promise<void>,
  ) => {
    const server = await startServer({ endpoints, ...(perMinute && { perMinute }) });
    try {
      await work(server);
    } finally {
      await server.close();
    }
  };

  test("the keys of an organisation share a limit; others have their own", () =>
    withServer({ bulk_create: 2 }, async (server) => {
      const path = "/limited/bulk_create/";
      expect(
        await statuses(server, [
          [path, "key-a1"],
          [path, "key-a2"],
        ]),
      ).toEqual([200, 200]);
      const refused = await call(server, path, bearer("key-a1"));
      expect(refused.status).toBe(429);
      const retryAfterS = Number(refused.headers.get("retry-after"));
      expect(retryAfterS).toBeGreaterThan(0);
      expect(retryAfterS).toBeLessThanOrEqual(60);
      expect(await refused.json()).toMatchObject({ code: "rate_limited", retry_after: retryAfterS });
      expect(
        await statuses(server, [
          [path, "key-b1"],
          [path, "key-a2"],
        ]),
      ).toEqual([200, 429]);
      expect(await server.registry.metrics()).toContain('http_rate_limited_total{rule="bulk_create"} 2');
    }));

  test("a person is counted separately from the organisation and from other people", () =>
    withServer({ bulk_create: 1 }, async (server) => {
      const path = "/limited/bulk_create/";
      expect(
        await statuses(server, [
          [path, "key-a1"],
          [path, "jwt.user.one"],
          [path, "jwt.user.two"],
          [path, "jwt.user.one"],
        ]),
      ).toEqual([200, 200, 200, 429]);
    }));

  test("bulk_create counts its aliases together, bulk_delete each path by itself, trailing slash or not", () =>
    withServer({ bulk_create: 1, bulk_delete: 1 }, async (server) => {
      expect(
        await statuses(server, [
          ["/limited/bulk_create/", "key-a1"],
          ["/alias/bulk_create/", "key-a1"],
          ["/limited/bulk_delete/", "key-a1"],
          ["/limited/bulk_delete", "key-a2"],
          ["/alias/bulk_delete/", "key-a1"],
        ]),
      ).toEqual([200, 429, 200, 429, 200]);
    }));

  test("the public route counts by address, the general one by organisation, including its people", () =>
    withServer({ public_trace: 1, api: 2 }, async (server) => {
      expect(
        await statuses(server, [
          ["/public", undefined],
          ["/public", "key-a1"],
        ]),
      ).toEqual([200, 429]);
      const path = "/limited/api/";
      expect(
        await statuses(server, [
          [path, "key-a1"],
          [path, "jwt.user.one"],
          [path, "key-a2"],
          [path, "key-b1"],
        ]),
      ).toEqual([200, 200, 429, 200]);
    }));

  test("a limit of zero disables a rule", () =>
    withServer({ bulk_create: 0 }, async (server) => {
      const calls = Array.from({ length: 50 }, () => ["/limited/bulk_create/", "key-a1"] as [string, string]);
      expect(new Set(await statuses(server, calls))).toEqual(new Set([200]));
    }));

  test("a caller without credentials does not use up any limit", () =>
    withServer({ bulk_create: 1 }, async (server) => {
      const path = "/limited/bulk_create/";
      expect(
        await statuses(server, [
          [path, undefined],
          [path, "unknown"],
          [path, "key-a1"],
        ]),
      ).toEqual([401, 401, 200]);
    }));

  const subject = { principal: undefined, ip: "192.0.2.1", path: "/x" };
  const limiterOver = (redis: object, onStoreFailure: () => void) =>
    createRateLimiter({
      perMinute: { bulk_create: 1, bulk_delete: 0, public_trace: 0, api: 0 },
      redis,
      onStoreFailure,
    });

  test.each([
    // Nothing listens on port 1 of loopback.
    ["unreachable", () => new Redis({ host: "127.0.0.1", port: 1, lazyConnect: true }).on("error", () => {})],
    ["silent", () => ({ status: "ready", rlflxIncr: () => new Promise(() => {}) })],
  ])("while Redis is %s the node counts alone and reports it", async (_how, connect) => {
    let failures = 0;
    const limiter = limiterOver(connect(), () => (failures += 1));
    expect(await limiter.consume("bulk_create", subject)).toBeUndefined();
    expect(await limiter.consume("bulk_create", subject)).toBeGreaterThan(0);
    expect(failures).toBe(2);
  });

  const redisUrl = process.env["SPANWAY_TEST_REDIS_URL"];
  const skipReason =
    redisUrl === undefined
      ? " (skipped: SPANWAY_TEST_REDIS_URL is not set, scripts/test-services.sh starts a Redis)"
      : "";
  test.skipIf(redisUrl === undefined)(`nodes on one Redis share a limit${skipReason}`, async () => {
    const clients = [1, 2].map(() => new Redis(redisUrl ?? ""));
    await Promise.all(clients.map((client) => client.ping()));
    const [first, second] = clients.map((client) =>
      limiterOver(client, () => {
        throw new Error("Redis did not answer");
      }),
    );
    const caller = { ...subject, principal: { ...keyPrincipal, organization_id: crypto.randomUUID() } };
    expect(await first?.consume("bulk_create", caller)).toBeUndefined();
    expect(await second?.consume("bulk_create", caller)).toBeGreaterThan(0);
    for (const client of clients) client.disconnect();
  });
});

describe("addressKey", () => {
  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
  ])("%s counts as %s", (ip, key) => {
    expect(addressKey(ip)).toBe(key);
  });
});

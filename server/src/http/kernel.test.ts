import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pino } from "pino";
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { content, rawJson } from "./reply.ts";
import { bearer, rawExchange, rawGet, startServer, until } from "./test-support.ts";

const aborted: string[] = [];

const shared = { summary: "A demo", tags: ["Demo"], auth: "none", errors: [] } as const;
const anything = z.unknown();

const endpoints = [
  endpoint({
    ...shared,
    id: "create_thing",
    method: "POST",
    path: "/api/things/",
    aliases: ["/api/things/create/"],
    body: { kind: "json", schema: z.object({ name: z.string() }) },
    success: { status: 201, schema: z.object({ name: z.string() }) },
    handler: ({ body }) => ({ name: body.name }),
  }),
  endpoint({
    ...shared,
    id: "list_things",
    method: "POST",
    path: "/api/things/list/",
    aliases: [{ method: "GET", path: "/api/things/list/" }],
    query: z.object({ page: z.string().optional() }),
    success: { status: 200, schema: anything },
    handler: ({ query, rawQuery, url }) => ({ page: query.page, raw: rawQuery.get("metadata__a"), url: url.href }),
  }),
  endpoint({
    ...shared,
    id: "get_thing",
    method: "GET",
    path: "/api/things/{thing_id}/",
    success: { status: 200, schema: anything },
    handler: ({ params }) => ({ id: params.thing_id }),
  }),
  endpoint({
    ...shared,
    id: "big",
    method: "GET",
    path: "/big",
    success: { status: 200, schema: anything },
    handler: () => ({ text: "word ".repeat(2_000) }),
  }),
  endpoint({
    ...shared,
    id: "digits",
    method: "GET",
    path: "/digits",
    success: { status: 200, schema: anything },
    handler: () => rawJson('{"n":12345678901234567890}'),
  }),
  endpoint({
    ...shared,
    id: "bytes",
    method: "GET",
    path: "/bytes",
    success: { status: 200, contentType: "text/plain" },
    handler: () => content("text/plain", Buffer.from("plain"), { headers: { "x-extra": "1" } }),
  }),
  endpoint({
    ...shared,
    id: "remove",
    method: "DELETE",
    path: "/nothing",
    success: { status: 204 },
    handler: () => {},
  }),
  endpoint({
    ...shared,
    id: "wait",
    method: "GET",
    path: "/wait",
    success: { status: 200 },
    handler: ({ signal, requestId }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push(requestId);
          reject(new Error("aborted"));
        });
      }),
  }),
  endpoint({
    ...shared,
    id: "stream",
    method: "GET",
    path: "/stream",
    success: { status: 200, contentType: "text/event-stream" },
    async handler(context) {
      const response = context.hijack();
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const n of [1, 2, 3]) response.write(`data: ${n}\n\n`);
      response.end();
    },
  }),
  endpoint({
    ...shared,
    id: "broken_stream",
    method: "GET",
    path: "/broken-stream",
    success: { status: 200, contentType: "text/event-stream" },
    async handler(context) {
      context.hijack().write("data: 1\n\n");
      throw new Error("upstream died");
    },
  }),
];

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer({ endpoints });
});
afterAll(() => server.close());

const get = (path: string, init?: RequestInit) => fetch(server.url + path, { redirect: "manual", ...init });
const post = (path: string, body?: string) =>
  get(path, { method: "POST", ...(body !== undefined && { body, headers: { "content-type": "application/json" } }) });

describe("routing", () => {
  test.each(["/api/things/", "/api/things", "/api/things/create/", "/api/things/create"])(
    "POST %s reaches the same handler without a redirect",
    async (path) => {
      const response = await post(path, '{"name":"x"}');
      expect(response.status).toBe(201);
      expect(await response.json()).toEqual({ name: "x" });
    },
  );

  test("an alias may have another method on the same path, and its body reads as empty", async () => {
    const response = await get("/api/things/list?page=2&metadata__a=b%20c");
    expect(await response.json()).toMatchObject({ page: "2", raw: "b c" });
  });

  test("path parameters are decoded, also long ones and encoded slashes", async () => {
    expect(await (await get("/api/things/a%2Fb%20%E2%82%AC/")).json()).toEqual({ id: "a/b €" });
    const long = "é".repeat(250);
    expect(await (await get(`/api/things/${encodeURIComponent(long)}`)).json()).toEqual({ id: long });
  });

  test("a URL that does not decode is 400", async () => {
    const response = await get("/api/things/%zz");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid_request" });
  });

  test("an unknown path is 404 in the default shape", async () => {
    const response = await get("/nowhere");
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      detail: "There is nothing at this path. The API reference is at /docs.",
      code: "not_found",
      error: "There is nothing at this path. The API reference is at /docs.",
    });
  });

  test("a known path with another method is 405 and names the allowed methods", async () => {
    const response = await get("/api/things/list/", { method: "DELETE" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST, GET, HEAD");
    expect(await response.json()).toMatchObject({ code: "method_not_allowed" });
  });

  test("HEAD responds like GET, without the body", async () => {
    const [head, full] = await Promise.all([get("/digits", { method: "HEAD" }), get("/digits")]);
    expect(head.status).toBe(200);
    expect(head.headers.get("content-length")).toBe(full.headers.get("content-length"));
    expect(await head.text()).toBe("");
  });

  test("two endpoints on one method and path are refused at start", async () => {
    const first = endpoint({
      ...shared,
      id: "one",
      method: "GET",
      path: "/x/{a}/",
      success: { status: 204 },
      handler: () => {},
    });
    const second = { ...first, id: "two", path: "/x/{b}" };
    await expect(startServer({ endpoints: [first, second] })).rejects.toThrow(/declared twice/);
  });
});

describe("responses", () => {
  test("ready-made JSON keeps its digits", async () => {
    expect(await (await get("/digits")).text()).toBe('{"n":12345678901234567890}');
  });

  test("bytes are sent unchanged, with their own headers", async () => {
    const response = await get("/bytes");
    expect(await response.text()).toBe("plain");
    expect(response.headers.get("x-extra")).toBe("1");
  });

  test("204 has no body and no length", async () => {
    const response = await get("/nothing", { method: "DELETE" });
    expect(response.status).toBe(204);
    expect(response.headers.get("content-length")).toBeNull();
  });

  test.each([
    ["gzip", "gzip"],
    ["br;q=1, gzip;q=0.5", "gzip"],
    ["*", "gzip"],
    ["gzip;q=0", null],
    ["gzip;q=0, *", null],
    ["gzip;q=0.0000", null],
    ["gzip;q=0.3, identity;q=0.5", null],
    ["identity", null],
  ])("a large body for Accept-Encoding: %s has encoding %s", async (accepted, encoding) => {
    const { headers, body } = await rawGet(server.url + "/big", { "accept-encoding": accepted });
    expect(headers["content-encoding"] ?? null).toBe(encoding);
    expect(headers.vary).toBe("accept-encoding");
    const text = (encoding === "gzip" ? gunzipSync(body) : body).toString();
    expect(JSON.parse(text).text).toHaveLength(10_000);
  });

  test("a small body is not compressed", async () => {
    const { headers } = await rawGet(server.url + "/digits", { "accept-encoding": "gzip" });
    expect(headers["content-encoding"]).toBeUndefined();
  });

  test("a stream is written by its handler and has the request id header", async () => {
    const response = await get("/stream", { headers: { "x-request-id": "mine" } });
    expect(response.headers.get("x-request-id")).toBe("mine");
    expect(await response.text()).toBe("data: 1\n\ndata: 2\n\ndata: 3\n\n");
  });

  test("a stream that fails half-way is aborted, not ended as if it were complete", async () => {
    const response = await get("/broken-stream");
    await expect(response.text()).rejects.toThrow(/terminated/);
  });
});

describe("request ids", () => {
  test("a plain id is kept", async () => {
    const response = await get("/digits", { headers: { "x-request-id": "abc-123_X.y:z" } });
    expect(response.headers.get("x-request-id")).toBe("abc-123_X.y:z");
  });

  test.each(["a b", "x".repeat(129), "é", '"><script>', "a,b"])("%s is replaced", async (id) => {
    const response = await get("/digits", { headers: { "x-request-id": id } });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("an id with a line break injects no header", async () => {
    const answer = await rawExchange(
      server.url,
      "GET /digits HTTP/1.1\r\nhost: x\r\nx-request-id: a\r\n set-cookie: b=c\r\nconnection: close\r\n\r\n",
    );
    expect(answer).not.toMatch(/^set-cookie/im);
  });

  test("errors before routing have a request id too", async () => {
    expect((await get("/nowhere")).headers.get("x-request-id")).toBeTruthy();
    expect((await get("/api/things/%zz")).headers.get("x-request-id")).toBeTruthy();
  });
});

describe("the URL of a request", () => {
  const urlFor = async (headers: Record<string, string>) =>
    JSON.parse((await rawGet(server.url + "/api/things/list/?page=1", headers)).body.toString()).url;

  test("is built from a plain Host", async () => {
    expect(await urlFor({ host: "api.example.com:8080" })).toBe("http://api.example.com:8080/api/things/list/?page=1");
  });

  test("does not trust a Host with more than a host name, nor forwarded headers", async () => {
    expect(await urlFor({ host: "evil.com/x?" })).toBe(`${server.url}/api/things/list/?page=1`);
    expect(await urlFor({ host: "a.com", "x-forwarded-host": "evil.com", "x-forwarded-proto": "https" })).toBe(
      "http://a.com/api/things/list/?page=1",
    );
  });

  test("starts with the public URL if one is configured", async () => {
    const other = await startServer({ endpoints, publicUrl: "https://spans.example.com/obs/" });
    const response = await fetch(`${other.url}/api/things/list/?page=3`);
    expect(await response.json()).toMatchObject({ url: "https://spans.example.com/obs/api/things/list/?page=3" });
    await other.close();
  });
});

describe("a client that disconnects", () => {
  test("aborts the signal of its handler and is logged as 499", async () => {
    const disconnected = new AbortController();
    const pending = get("/wait", { signal: disconnected.signal, headers: { "x-request-id": "leaver" } });
    setTimeout(() => disconnected.abort(), 50);
    await expect(pending).rejects.toThrow(/aborted/);
    await until(() => server.logLines.some((line) => line["request_id"] === "leaver"));
    expect(aborted).toContain("leaver");
    expect(server.logLines.find((line) => line["request_id"] === "leaver")).toMatchObject({ status: 499 });
  });
});

describe("logs and metrics", () => {
  test("a request has one log line, without its query, headers or body", async () => {
    await get("/api/things/list?secret=s3cr3t", { headers: { ...bearer("key-a1"), "x-request-id": "logged" } });
    await until(() => server.logLines.some((line) => line["request_id"] === "logged"));
    const lines = server.logLines.filter((line) => line["request_id"] === "logged");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ method: "GET", route: "/api/things/list/", status: 200 });
    expect(JSON.stringify(server.logLines)).not.toMatch(/s3cr3t|key-a1/);
  });

  test("requests that succeed can be logged at debug; failed ones stay at info", async () => {
    const logged: Record<string, unknown>[] = [];
    const logger = pino({ level: "debug" }, { write: (line) => void logged.push(JSON.parse(line)) });
    const quiet = await startServer({ endpoints, requestLevel: "debug", logger });
    const headers = bearer("key-a1");
    await fetch(`${quiet.url}/api/things/list`, { headers });
    await fetch(`${quiet.url}/api/nothing`, { headers });
    await until(() => logged.length === 2);
    await quiet.close();
    expect(logged.map(({ status, level }) => [status, level])).toEqual([
      [200, pino.levels.values["debug"]],
      [404, pino.levels.values["info"]],
    ]);
  });

  test("metrics are labelled by route pattern, never by values from the caller", async () => {
    await get("/api/things/personal-identifier/");
    await get("/some/unknown/personal-path");
    await until(() => server.logLines.some((line) => line["route"] === "unmatched"));
    const metrics = await server.registry.metrics();
    expect(metrics).toMatch(
      /http_requests_total\{route="\/api\/things\/\{thing_id\}\/",method="GET",status="200"\} [1-9]/,
    );
    expect(metrics).toMatch(/http_requests_total\{route="unmatched",method="GET",status="404"\} [1-9]/);
    expect(metrics).toMatch(/http_request_duration_seconds_count\{route="unmatched"\} [1-9]/);
    expect(metrics).toMatch(/http_requests_in_flight 0/);
    expect(metrics).not.toContain("personal");
  });
});

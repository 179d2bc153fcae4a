import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ServiceError, type ErrorCode } from "../domain/errors.ts";
import { endpoint } from "./endpoint.ts";
import { errorReply } from "./error-reply.ts";
import { reply } from "./reply.ts";
import { rawExchange, rawGet, startServer } from "./test-support.ts";

const shared = { summary: "A demo", tags: ["Demo"], auth: "none", errors: [] } as const;

const endpoints = [
  endpoint({
    ...shared,
    id: "fields_body",
    method: "POST",
    path: "/fields-body",
    dialect: "fields",
    body: { kind: "json", schema: z.object({}) },
    success: { status: 200 },
    handler: () => {},
  }),
  endpoint({ ...shared, id: "fine", method: "GET", path: "/fine", success: { status: 200 }, handler: () => {} }),
  endpoint({
    ...shared,
    id: "boom",
    method: "GET",
    path: "/boom",
    success: { status: 200 },
    handler: () => {
      throw new Error("password=hunter2");
    },
  }),
  endpoint({
    ...shared,
    id: "bad_header",
    method: "GET",
    path: "/bad-header",
    success: { status: 200 },
    handler: () => reply(200, {}, { "x-bad": "a\r\nb: c" }),
  }),
  ...(["default", "openai", "otlp", "fields"] as const).map((dialect) =>
    endpoint({
      ...shared,
      id: `fail_${dialect}`,
      method: "POST",
      path: `/fail/${dialect}/{code}`,
      dialect,
      success: { status: 200 },
      handler: ({ params }) => {
        const errors = params.code === "invalid_request" ? { "configuration.rate": ["too high"] } : undefined;
        throw new ServiceError(params.code as ErrorCode, "It did not work.", {
          ...(errors && { errors }),
          ...(params.code === "rate_limited" && { retryAfterS: 7.2 }),
        });
      },
    }),
  ),
];

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer({ endpoints });
});
afterAll(() => server.close());

const get = (path: string, init?: RequestInit) => fetch(server.url + path, { redirect: "manual", ...init });
const post = (path: string, body?: string) =>
  get(path, { method: "POST", ...(body !== undefined && { body, headers: { "content-type": "application/json" } }) });

describe("errors", () => {
  test("internal errors reveal no details; the response carries the request id", async () => {
    const response = await get("/boom", { headers: { "x-request-id": "r-1" } });
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain("hunter2");
    expect(JSON.parse(text)).toMatchObject({ code: "internal", request_id: "r-1" });
  });

  test("an invalid response header is a 500, not a split response", async () => {
    const response = await get("/bad-header");
    expect(response.status).toBe(500);
    expect(response.headers.get("b")).toBeNull();
  });

  test("default: 400 has message and errors", async () => {
    const response = await post("/fail/default/invalid_request");
    expect(await response.json()).toEqual({
      detail: "It did not work.",
      code: "invalid_request",
      message: "It did not work.",
      errors: { "configuration.rate": ["too high"] },
    });
  });

  test("default: 429 has the retry time in the header and the body", async () => {
    const response = await post("/fail/default/rate_limited");
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("8");
    expect(await response.json()).toEqual({ detail: "It did not work.", code: "rate_limited", retry_after: 8 });
  });

  test("503 always has a retry time", async () => {
    const response = await post("/fail/otlp/unavailable");
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
  });

  test("fields: field errors are keyed by name, nested; others have the default shape", async () => {
    expect(await (await post("/fail/fields/invalid_request")).json()).toEqual({
      configuration: { rate: ["too high"] },
    });
    expect(await (await post("/fail/fields/not_found")).json()).toMatchObject({ detail: "It did not work." });
  });

  test("fields: a problem of the body as a whole has the default shape", async () => {
    expect(await (await post("/fields-body", "[]")).json()).toMatchObject({ code: "invalid_request" });
  });

  test("openai: errors have the shape that its SDKs read", async () => {
    expect(await (await post("/fail/openai/invalid_request")).json()).toEqual({
      error: {
        message: "It did not work.",
        type: "invalid_request_error",
        param: "configuration.rate",
        code: "invalid_request",
      },
    });
    expect((await post("/fail/openai/upstream_failed")).status).toBe(424);
  });

  test("otlp: errors are a google.rpc.Status in the encoding of the request", async () => {
    const json = await post("/fail/otlp/invalid_request", "{}");
    expect(json.status).toBe(400);
    expect(await json.json()).toEqual({ code: 3, message: "It did not work.", details: [] });

    const protobuf = await get("/fail/otlp/invalid_request", {
      method: "POST",
      headers: { "content-type": "application/x-protobuf" },
    });
    expect(protobuf.headers.get("content-type")).toBe("application/x-protobuf");
    const message = Buffer.from("It did not work.");
    expect(Buffer.from(await protobuf.arrayBuffer())).toEqual(
      Buffer.concat([Buffer.from([0x08, 3, 0x12, message.length]), message]),
    );
  });

  test("bytes that are not HTTP are answered with 400", async () => {
    const answer = await rawExchange(server.url, "NONSENSE\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"invalid_request"');
  });

  test("the connection stays usable after errors", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (const path of ["/boom", "/nowhere", "/%zz", "/fine"]) {
      ports.add((await rawGet(server.url + path, {}, agent)).localPort);
    }
    agent.destroy();
    expect(ports.size).toBe(1);
  });
});

const coded = (code: string, message = "failed") => Object.assign(new Error(message), { code });

test.each([
  ["a full disk", coded("ENOSPC"), "its disk is full"],
  ["SQLite on a full disk", Object.assign(coded("ERR_SQLITE_ERROR"), { errcode: 13 }), "its disk is full"],
  ["SQLite with a lock", Object.assign(coded("ERR_SQLITE_ERROR"), { errcode: 517 }), "locked by another process"],
  ["Postgres on a full disk", coded("53100"), "its disk is full"],
  ["ClickHouse on a full disk", coded("243"), "its disk is full"],
  ["no file descriptors", coded("EMFILE"), "file descriptors"],
  ["a Postgres that ended the connection", coded("57P01"), "database does not answer"],
  ["a Postgres that disconnected", new Error("Connection terminated unexpectedly"), "database does not answer"],
  ["a Postgres that cannot be reached", coded("ECONNREFUSED"), "database does not answer"],
  ["one of them as the cause of another error", new Error("outer", { cause: coded("ENFILE") }), "file descriptors"],
])("K13: %s is 503 with Retry-After", (_, error, detail) => {
  const reply = errorReply(error, { dialect: "default", requestId: "r", requestContentType: "" });
  expect([reply.status, reply.headers["retry-after"]]).toEqual([503, "5"]);
  expect(JSON.stringify(reply.payload)).toContain(detail);
});

test.each([new Error("a bug"), coded("23505"), coded("ENOENT"), Object.assign(new Error("x"), { code: 243 }), "text"])(
  "any other error is a 500 without details: %s",
  (error) => {
    const reply = errorReply(error, { dialect: "default", requestId: "r", requestContentType: "" });
    expect(reply.status).toBe(500);
  },
);

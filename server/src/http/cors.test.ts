import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { CorsOrigins } from "./cors.ts";
import { endpoint } from "./endpoint.ts";
import { startServer } from "./test-support.ts";

const shared = {
  summary: "A demo",
  tags: ["Demo"],
  errors: [],
  success: { status: 200, schema: z.unknown() },
} as const;
const endpoints = [
  endpoint({ ...shared, id: "post", method: "POST", path: "/post", auth: "none", handler: () => ({}) }),
  endpoint({ ...shared, id: "get", method: "GET", path: "/get/{id}", auth: "none", handler: () => ({}) }),
  endpoint({ ...shared, id: "keyed", method: "POST", path: "/v1/keyed", auth: "key", handler: () => ({}) }),
  endpoint({
    ...shared,
    id: "large",
    method: "GET",
    path: "/large",
    auth: "none",
    handler: () => ({ text: "word ".repeat(2_000) }),
  }),
  endpoint({
    ...shared,
    id: "stream",
    method: "POST",
    path: "/stream",
    auth: "none",
    handler: (context) => {
      const response = context.hijack();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end("data: 1\n\n");
    },
  }),
  endpoint({
    ...shared,
    id: "broken",
    method: "POST",
    path: "/broken",
    auth: "none",
    handler: (context) => {
      context.hijack();
      throw new Error("a fault of ours");
    },
  }),
];

type Server = Awaited<ReturnType<typeof startServer>>;
const page = "https://app.example.com";
let servers: Record<"off" | "some" | "all", Server>;
beforeAll(async () => {
  const start = (corsOrigins: CorsOrigins): Promise<Server> => startServer({ endpoints, corsOrigins });
  const [off, some, all] = await Promise.all([
    start(undefined),
    start(new Set([page, "http://localhost:3000"])),
    start("*"),
  ]);
  servers = { off, some, all };
});
afterAll(() => Promise.all(Object.values(servers).map((server) => server.close())));

const cases: Array<[method: string, path: string, status: number]> = [
  ["POST", "/post", 200],
  ["POST", "/post?a=1", 200],
  ["GET", "/get/1", 200],
  ["HEAD", "/get/1", 200],
  ["GET", "/large", 200],
  ["POST", "/stream", 200],
  ["POST", "/v1/keyed", 401],
  ["POST", "/get/1", 405],
  ["GET", "/nowhere", 404],
  ["POST", "/v1/nowhere", 404],
  ["POST", "/broken", 500],
];

function call(server: Server, method: string, path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(new URL(path, server.url), { method, headers, ...(method === "POST" && { body: "{}" }) });
}

describe.each(cases)("%s %s", (method, path, status) => {
  test("may be read only by pages of the configured origins", async () => {
    const allowed = await call(servers.some, method, path, { origin: page });
    expect(allowed.status).toBe(status);
    expect(allowed.headers.get("access-control-allow-origin")).toBe(page);
    expect(allowed.headers.get("access-control-expose-headers")).toContain("x-spanway-log-id");
    expect(allowed.headers.get("access-control-allow-credentials")).toBeNull();
    expect(allowed.headers.get("vary")?.split(", ")).toContain("origin");
    for (const origin of ["https://app.example.com.evil.example", "http://app.example.com", "null", ""]) {
      const other = await call(servers.some, method, path, { origin });
      expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([status, null]);
    }
    const everybody = await call(servers.all, method, path, { origin: "https://anybody.example" });
    expect(everybody.headers.get("access-control-allow-origin")).toBe("*");
    for (const server of Object.values(servers)) {
      const noPage = await call(server, method, path, {});
      expect([...noPage.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    const off = await call(servers.off, method, path, { origin: page });
    expect([...off.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("a preflight", () => {
  const preflight = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,x-api-key,x-new",
  };

  test.each(["/post", "/get/1", "/v1/keyed", "/nowhere"])("is answered for %s without a key", async (path) => {
    for (const [server, allowed] of [
      [servers.some, page],
      [servers.all, "*"],
    ] as const) {
      const answer = await fetch(new URL(path, server.url), {
        method: "OPTIONS",
        headers: { origin: page, ...preflight },
      });
      expect([answer.status, await answer.text()]).toEqual([204, ""]);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        "access-control-allow-origin": allowed,
        "access-control-allow-methods": expect.stringMatching(/\bPOST\b.*\bDELETE\b/),
        "access-control-allow-headers": "authorization,x-api-key,x-new",
        "access-control-max-age": expect.stringMatching(/^\d+$/),
      });
    }
  });

  test.each<[server: keyof typeof servers, headers: Record<string, string>]>([
    ["off", { origin: page, ...preflight }],
    ["some", { origin: "https://evil.example", ...preflight }],
    ["some", preflight],
    ["some", { origin: page }],
  ])("is refused with CORS %s and %j", async (name, headers) => {
    const answer = await fetch(new URL("/post", servers[name].url), { method: "OPTIONS", headers });
    expect([answer.status, answer.headers.get("access-control-allow-methods")]).toEqual([405, null]);
  });
});

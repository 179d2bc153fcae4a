import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import type { HttpServerOptions } from "./server.ts";
import { startServer } from "./test-support.ts";

const list = endpoint({
  id: "list_things",
  method: "POST",
  path: "/api/things/list/",
  aliases: [{ method: "GET", path: "/api/things/list/" }],
  summary: "A demo",
  tags: ["Demo"],
  auth: "none",
  errors: [],
  success: { status: 200, schema: z.unknown() },
  handler: ({ url }) => ({ url: url.href }),
});

const from = (address: string): HttpServerOptions["trustProxy"] => ({ networks: [{ address, prefixBits: 8 }] });
const loopback = from("127.0.0.0");
const forwardedHeaders = {
  "x-forwarded-proto": "https",
  "x-forwarded-host": "spans.example.com",
  "x-forwarded-prefix": "/obs/",
};
const direct = { host: "a.com:81" };

/** `expected`: the start of links; undefined for the address that the server listens on. */
type Case = [
  where: string,
  options: Partial<HttpServerOptions>,
  headers: Record<string, string>,
  expected: string | undefined,
];

/** Small POST requests use the fast path, GET requests go to Node. */
function send(url: string, method: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const body = method === "POST" ? "{}" : "";
    const length = { "content-type": "application/json", "content-length": String(body.length) };
    request(url, { method, headers: { ...(body && length), ...headers } }, (response) => resolve(text(response)))
      .on("error", reject)
      .end(body);
  });
}

describe.each(["GET", "POST"])("F6: the URL of a %s request", (method) => {
  test.each<Case>([
    ["one proxy is trusted", { trustProxy: { hops: 1 } }, forwardedHeaders, "https://spans.example.com/obs"],
    ["its network is trusted", { trustProxy: loopback }, forwardedHeaders, "https://spans.example.com/obs"],
    ["no proxy is trusted", {}, { ...direct, ...forwardedHeaders }, "http://a.com:81"],
    [
      "another network is trusted",
      { trustProxy: from("10.0.0.0") },
      { ...direct, ...forwardedHeaders },
      "http://a.com:81",
    ],
    ["the proxy sends nothing", { trustProxy: loopback }, direct, "http://a.com:81"],
    [
      "the public URL is fixed",
      { trustProxy: loopback, publicUrl: "https://b.com/x/" },
      forwardedHeaders,
      "https://b.com/x",
    ],
    ...(
      [
        ["x-forwarded-prefix", "", "https://spans.example.com"],
        ["x-forwarded-prefix", "/", "https://spans.example.com"],
        ["x-forwarded-prefix", "@evil.com", undefined],
        ["x-forwarded-prefix", "/a?b=", undefined],
        ["x-forwarded-proto", "gopher, http", "http://spans.example.com/obs"],
        ["x-forwarded-proto", "javascript", undefined],
        ["x-forwarded-host", "evil.com/x?", undefined],
      ] as const
    ).map(([name, value, expected]): Case => [
      `a trusted proxy sends ${name}: ${value}`,
      { trustProxy: loopback },
      { ...forwardedHeaders, [name]: value },
      expected,
    ]),
  ])("where %s", async (_name, options, headers, expected) => {
    const server = await startServer({ endpoints: [list], ...options });
    const answer = await send(`${server.url}${list.path}`, method, headers);
    await server.close();
    expect(JSON.parse(answer)).toEqual({ url: `${expected ?? server.url}${list.path}` });
  });
});

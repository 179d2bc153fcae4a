import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { startServer } from "../test-support.ts";
import { loadBuiltPage } from "./built-page.ts";

const html = `<!doctype html><title>Page</title>${" ".repeat(2000)}`;
const script = `export const text = "${"x".repeat(3000)}";`;
const asset = "/assets/index-abc123.js";

const endpoints = [
  endpoint({
    id: "list_things",
    method: "GET",
    path: "/api/things/",
    summary: "Things",
    tags: ["Demo"],
    auth: "none",
    errors: [],
    success: { status: 200, schema: z.string() },
    handler: () => "things",
  }),
];

let folder: string;
let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "page-"));
  const dist = join(folder, "dist");
  await mkdir(join(dist, "assets"), { recursive: true });
  const put = async (name: string, text: string): Promise<void> => {
    await writeFile(join(dist, name), text);
    await writeFile(join(dist, `${name}.br`), brotliCompressSync(text));
    await writeFile(join(dist, `${name}.gz`), gzipSync(text));
  };
  await put("index.html", html);
  await put(asset.slice(1), script);
  await writeFile(join(dist, "assets/icon.svg"), "<svg/>");
  await writeFile(join(dist, "notes.md"), "not for others");
  await writeFile(join(folder, "secret.json"), "{}");
  server = await startServer({ endpoints, page: await loadBuiltPage(dist) });
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** Sends the path unchanged: `fetch` would normalize it. */
function get(path: string, headers: Record<string, string> = {}, at = server.url, method = "GET"): Promise<Answer> {
  const { hostname, port } = new URL(at);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    })
      .on("error", reject)
      .end();
  });
}

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe("the page", () => {
  test.each([
    "/",
    "/logs",
    "/logs/?q=model:x",
    "/traces/a%2Fb%3F",
    "/customers/%F0%9F%8D%8B",
    "/index.html",
    "/nowhere",
  ])("is what a browser gets at %s, with a strict policy, and is revalidated by caches", async (path) => {
    const { status, headers, body } = await get(path, browser);
    expect([status, body.toString()]).toEqual([200, html]);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(headers["cache-control"]).toBe("no-cache");
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
    expect(headers["content-security-policy"]).not.toMatch(/unsafe|\*|https?:/);
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("same-origin");
  });

  test.each(["/api/nothing", "/api", "/v1/nothing", "/v1beta/models", "/api/things/5/more"])(
    "does not shadow the API: %s is a JSON error, also in a browser",
    async (path) => {
      const { status, headers } = await get(path, browser);
      expect([status, headers["content-type"]]).toEqual([404, "application/json; charset=utf-8"]);
    },
  );

  test("is also what a tool that accepts everything gets at the root", async () => {
    expect((await get("/", { accept: "*/*" })).body.toString()).toBe(html);
    expect((await get("/", {})).body.toString()).toBe(html);
  });

  test("callers that do not accept HTML get a JSON error at any path, and endpoints work as before", async () => {
    for (const accept of ["*/*", "application/json"]) {
      for (const path of ["/logs", "/nowhere"]) {
        const { status, body } = await get(path, { accept });
        expect([status, JSON.parse(body.toString()).code]).toEqual([404, "not_found"]);
      }
    }
    for (const accept of ["application/json", "text/html;q=0, */*", "application/json, */*;q=0.5"])
      expect((await get("/", { accept })).status).toBe(404);
    expect((await get("/logs", browser, server.url, "POST")).status).toBe(404);
    expect((await get("/api/things/", browser)).body.toString()).toBe('"things"');
  });

  test("is 304 for a browser that has it", async () => {
    const { headers } = await get("/logs", browser);
    const again = await get("/", { ...browser, "if-none-match": `W/"other", ${headers.etag}` });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect(again.headers.etag).toBe(headers.etag);
    expect((await get("/", { ...browser, "if-none-match": '"other"' })).status).toBe(200);
  });

  test("has a separate ETag in each coding, for caches that compare bytes", async () => {
    const inCoding = (coding: string, more: Record<string, string> = {}) =>
      get("/", { ...browser, "accept-encoding": coding, ...more });
    const tags = await Promise.all(
      ["br", "gzip", "identity"].map(async (coding) => (await inCoding(coding)).headers.etag),
    );
    expect(new Set(tags).size).toBe(3);
    expect((await inCoding("gzip", { "if-none-match": String(tags[0]) })).status).toBe(200);
    expect((await inCoding("gzip", { "if-none-match": String(tags[1]) })).status).toBe(304);
  });

  test("explains what to do if it was not built", async () => {
    const bare = await startServer({ endpoints, page: await loadBuiltPage(join(folder, "nowhere")) });
    try {
      const { status, body } = await get("/", browser, bare.url);
      expect([status, body.toString()]).toEqual([503, expect.stringContaining("npm run build:web")]);
      expect((await get("/nowhere", { accept: "*/*" }, bare.url)).status).toBe(404);
    } finally {
      await bare.close();
    }
  });
});

describe("files of the page", () => {
  test.each<[accepted: string | undefined, coding: string | undefined, decode: (bytes: Buffer) => Buffer]>([
    ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
    ["gzip, br;q=0", "gzip", gunzipSync],
    ["gzip, br;q=0.1", "gzip", gunzipSync],
    ["gzip;q=0.5, br;q=0.5", "br", brotliDecompressSync],
    ["br;q=0.1", "br", brotliDecompressSync],
    ["identity, br;q=0.5", undefined, (bytes) => bytes],
    ["br;q=0, gzip;q=0.000", undefined, (bytes) => bytes],
    ["gzip;q=0, *", undefined, (bytes) => bytes],
    ["gzip;q=0.3, identity;q=0.5", undefined, (bytes) => bytes],
    ["*", "gzip", gunzipSync],
    ["gzip", "gzip", gunzipSync],
    ["identity", undefined, (bytes) => bytes],
    [undefined, undefined, (bytes) => bytes],
  ])("go out as the browser accepts them: %s", async (accepted, coding, decode) => {
    const { status, headers, body } = await get(asset, accepted === undefined ? {} : { "accept-encoding": accepted });
    expect([status, headers["content-encoding"], headers["vary"]]).toEqual([200, coding, "accept-encoding"]);
    expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(headers["content-length"]).toBe(String(body.length));
    expect(decode(body).toString()).toBe(script);
  });

  test("are cached permanently, as their names change with their content", async () => {
    expect((await get(asset)).headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const icon = await get("/assets/icon.svg", { "accept-encoding": "br, gzip" });
    expect(icon.headers["content-type"]).toBe("image/svg+xml");
    // There is only one form of it, whatever the request accepts.
    expect(icon.headers["vary"]).toBeUndefined();
  });

  test("HEAD has the same headers, without the body", async () => {
    const { status, headers, body } = await get(asset, {}, server.url, "HEAD");
    expect([status, headers["content-length"], body.length]).toEqual([200, String(script.length), 0]);
  });

  test.each([
    "/assets/index-gone.js",
    "/../secret.json",
    "/assets/../../secret.json",
    "/%2e%2e/secret.json",
    "/..%2fsecret.json",
    "/assets/..%5c..%5csecret.json",
    "//secret.json",
    "/notes.md",
    "/assets/index-abc123.js.br",
    "/assets/index-abc123.js%00",
    "/assets",
    "/__proto__",
  ])("are only those of the build: %s is not one", async (path) => {
    const { status, headers, body } = await get(path, { accept: "*/*" });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(headers["cache-control"]).toBe("no-store");
    expect(body.toString()).not.toContain("not for others");
  });
});

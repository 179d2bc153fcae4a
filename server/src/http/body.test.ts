import { connect } from "node:net";
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { httpLimits } from "./limits.ts";
import { endpoint } from "./endpoint.ts";
import { bearer, rawExchange, startServer, until } from "./test-support.ts";

const MiB = 1024 * 1024;
const shared = { method: "POST", summary: "A demo", tags: ["Demo"], errors: [] } as const;
const anything = z.unknown();
const form = z.object({ name: z.string(), items: z.array(z.object({ cost: z.number() })).default([]) });

let handled = 0;
const raw = (id: string, maxBytes: number, auth: "none" | "key" = "none") =>
  endpoint({
    ...shared,
    id,
    path: `/${id}`,
    auth,
    body: { kind: "raw", maxBytes },
    success: { status: 200, schema: anything },
    handler: ({ body }) => {
      handled += 1;
      return { bytes: body.bytes.length, contentType: body.contentType, head: body.bytes.toString("utf8", 0, 20) };
    },
  });

const endpoints = [
  raw("large", httpLimits.requestBytes),
  raw("small", 1000),
  raw("locked", httpLimits.requestBytes, "key"),
  endpoint({
    ...shared,
    id: "json",
    path: "/json",
    auth: "none",
    body: { kind: "json", schema: form },
    success: { status: 200, schema: anything },
    handler: ({ body }) => body,
  }),
  endpoint({
    ...shared,
    id: "strict",
    path: "/strict",
    auth: "none",
    body: { kind: "json", schema: form, invalidBody: "validation_failed" },
    success: { status: 200, schema: anything },
    handler: ({ body }) => body,
  }),
];

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer({ endpoints });
});
afterAll(() => server.close());

const post = (path: string, body: Buffer | string | undefined, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { method: "POST", ...(body !== undefined && { body }), headers });

const stillServes = async () => expect((await post("/small", "x")).status).toBe(200);

describe("content codings", () => {
  const text = JSON.stringify({ words: "many words ".repeat(500) });
  test.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
    ["zstd", zstdCompressSync(text)],
    ["identity", Buffer.from(text)],
    ["identity, gzip", gzipSync(text)],
    ["gzip", Buffer.concat([gzipSync(text.slice(0, 100)), gzipSync(text.slice(100))])],
  ])("%s is decoded", async (coding, body) => {
    const response = await post("/large", body, { "content-encoding": coding });
    expect(await response.json()).toMatchObject({ bytes: text.length, head: text.slice(0, 20) });
  });

  test.each(["compress", "gzip, gzip", "gzip,br", "constructor", "aes128gcm"])("%s is 415", async (coding) => {
    const response = await post("/large", gzipSync(gzipSync(text)), { "content-encoding": coding });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ code: "unsupported_media_type" });
  });

  test.each([
    ["gzip", gzipSync(text).subarray(0, -20)],
    ["gzip", Buffer.from(text)],
    ["gzip", corrupt(gzipSync(text))],
    ["br", brotliCompressSync(text).subarray(0, -5)],
    ["zstd", zstdCompressSync(text).subarray(0, -5)],
    ["zstd", Buffer.from("not zstd")],
    ["deflate", Buffer.from("not deflate")],
  ])("%s that is truncated or corrupt is 400", async (coding, body) => {
    const response = await post("/large", body, { "content-encoding": coding });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid_request" });
  });

  test("an empty body stays empty whatever its coding", async () => {
    const response = await post("/large", undefined, { "content-encoding": "gzip" });
    expect(await response.json()).toMatchObject({ bytes: 0 });
  });
});

describe("bounds", () => {
  test.each([
    ["as sent", Buffer.alloc(1001, "a"), {}],
    ["decompressed", gzipSync(Buffer.alloc(1001, "a")), { "content-encoding": "gzip" }],
    ["decompressed", brotliCompressSync(Buffer.alloc(1001, "a")), { "content-encoding": "br" }],
    ["decompressed", zstdCompressSync(Buffer.alloc(1001, "a")), { "content-encoding": "zstd" }],
  ])("one byte too many %s is 413 naming the bound", async (_how, body, headers) => {
    const response = await post("/small", body, headers);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      code: "payload_too_large",
      detail: expect.stringContaining("1000 bytes"),
    });
  });

  test("a body of exactly the bound is accepted", async () => {
    expect(await (await post("/small", Buffer.alloc(1000, "a"))).json()).toMatchObject({ bytes: 1000 });
    const packed = await post("/small", gzipSync(Buffer.alloc(1000, "a")), { "content-encoding": "gzip" });
    expect(await packed.json()).toMatchObject({ bytes: 1000 });
  });

  test("a zip bomb of 1 GiB is stopped at the bound, without using its memory", async () => {
    const bomb = await gzippedZeros(1024);
    expect(bomb.length).toBeLessThan(2 * MiB);
    const before = process.memoryUsage().rss;
    let peak = before;
    const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 2);
    const response = await post("/large", bomb, { "content-encoding": "gzip" });
    clearInterval(sampler);
    expect(response.status).toBe(413);
    expect(peak - before).toBeLessThan(200 * MiB);
    await stillServes();
  });

  test("a body declared too large is refused before it is sent", async () => {
    const startedMs = performance.now();
    const answer = await rawExchange(
      server.url,
      `POST /large HTTP/1.1\r\nhost: x\r\ncontent-length: ${10 * 1024 * MiB}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/connection: close/i);
    expect(performance.now() - startedMs).toBeLessThan(httpLimits.lingerMs + 1_000);
  });

  test("a refusal is counted with its status, even if the client disconnects as soon as it has read it", async () => {
    const declared = `POST /large HTTP/1.1\r\nhost: x\r\ncontent-length: ${10 * 1024 * MiB}\r\n\r\n`;
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname).on("error", () => undefined);
    socket.write(declared);
    const counted = async (status: number): Promise<number> =>
      Number(
        new RegExp(`http_requests_total\\{route="/large",method="POST",status="${status}"\\} (\\d+)`).exec(
          await server.registry.metrics(),
        )?.[1] ?? 0,
      );
    const [refused, left] = [await counted(413), await counted(499)];
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await vi.waitFor(async () => expect([await counted(413), await counted(499)]).toEqual([refused + 1, left]));
  });

  test("a client that keeps sending can still read the refusal", async () => {
    const { answer, sentBytes } = await sendWithoutEnd(server.url, "/small");
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain("payload_too_large");
    expect(sentBytes).toBeGreaterThan(1000);
    await stillServes();
  });

  test("a body larger than the bound is not read for a caller without credentials", async () => {
    const { answer } = await sendWithoutEnd(server.url, "/locked");
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect((await post("/locked", "x", bearer("key-a1"))).status).toBe(200);
  });

  test("a body refused for lack of memory frees its bytes immediately, while its client still sends", async () => {
    const tight = await startServer({ endpoints, bounds: { bodyBytesInFlight: 5.1 * MiB } });
    const { hostname, port } = new URL(tight.url);
    const uploads = Array.from({ length: 4 }, () => {
      const socket = connect(Number(port), hostname);
      let answer = "";
      socket.on("data", (bytes) => (answer += bytes.toString())).on("error", () => undefined);
      socket.write(`POST /large HTTP/1.1\r\nhost: x\r\ncontent-length: ${1.25 * MiB + 1}\r\n\r\n`);
      return {
        socket,
        send: (bytes: number) => socket.write(Buffer.alloc(bytes, "a")),
        status: () => answer.slice(9, 12),
      };
    });
    for (const { send } of uploads) send(MiB);
    // Slightly more than fits: one of them is refused, whichever comes last.
    uploads[0]?.send(MiB / 4);
    await until(() => uploads.some(({ status }) => status() === "503"));
    const taken = uploads.slice(1).find(({ status }) => status() === "");
    taken?.send(MiB / 4 + 1);
    await until(() => taken?.status() !== "");
    expect(taken?.status()).toBe("200");
    for (const { socket } of uploads) socket.destroy();
    await tight.close();
  });

  test("the total of all bodies is bounded: one more is 503, and its bytes are returned", async () => {
    const tight = await startServer({ endpoints, bounds: { bodyBytesInFlight: 5 * MiB } });
    const send = (mebibytes: number) =>
      fetch(`${tight.url}/large`, { method: "POST", body: Buffer.alloc(mebibytes * MiB, "a") });
    const refused = await send(4);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    for (const _ of [1, 2, 3]) expect((await send(2)).status).toBe(200);
    expect(await tight.registry.metrics()).toContain('http_request_body_refusals_total{code="unavailable"} 1');
    await tight.close();
  });
});

describe("failing uploads", () => {
  test("an aborted upload reaches no handler", async () => {
    const handledBefore = handled;
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write("POST /large HTTP/1.1\r\nhost: x\r\nx-request-id: broken\r\ncontent-length: 1000\r\n\r\nabc");
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await until(() => server.logLines.some((line) => line["request_id"] === "broken"));
    expect(server.logLines.find((line) => line["request_id"] === "broken")).toMatchObject({ status: 499 });
    expect(handled).toBe(handledBefore);
    await stillServes();
  });

  const partial = "POST /large HTTP/1.1\r\nhost: x\r\n";
  test.each([
    { name: "stalls", first: `${partial}content-length: 10\r\n\r\nabc`, rest: "" },
    { name: "is large", first: `${partial}content-length: ${64 * MiB}\r\n\r\n`, rest: "a".repeat(64_000) },
    { name: "has chunks", first: `${partial}transfer-encoding: chunked\r\n\r\n`, rest: "1\r\na\r\n" },
    {
      name: "follows another request",
      first: `${partial}content-length: 1\r\n\r\na${partial}content-length: 1000\r\n\r\n`,
      rest: "a",
    },
  ])("an upload that $name and does not arrive in time is 408", async ({ first, rest }) => {
    const impatient = await startServer({ endpoints, bounds: { requestReadMs: 300 } });
    const { hostname, port } = new URL(impatient.url);
    const socket = connect(Number(port), hostname, () => socket.write(first));
    const more = setInterval(() => void (rest === "" || socket.write(rest)), 10);
    let answer = "";
    socket.on("data", (bytes) => (answer += String(bytes))).on("error", () => undefined);
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(more);
    expect(answer).toMatch(/HTTP\/1\.1 408 /);
    await impatient.close();
  });

  test("a slow upload that arrives in time is complete", async () => {
    const slow = new ReadableStream({
      async start(controller) {
        for (const part of ["one ", "two ", "three"]) {
          controller.enqueue(new TextEncoder().encode(part));
          await new Promise((resolve) => setTimeout(resolve, 30));
        }
        controller.close();
      },
    });
    const init: RequestInit & { duplex: "half" } = { method: "POST", body: slow, duplex: "half" };
    const response = await fetch(`${server.url}/large`, init);
    expect(await response.json()).toMatchObject({ bytes: 13, head: "one two three" });
  });
});

describe("raw bodies", () => {
  test.each([
    ["Application/X-Protobuf", "application/x-protobuf"],
    ['application/json; charset="UTF-8"', "application/json"],
    ["multipart/form-data; boundary=----x", "multipart/form-data"],
  ])("content type %s reads as %s", async (sent, seen) => {
    const response = await post("/large", "{}", { "content-type": sent });
    expect(await response.json()).toMatchObject({ contentType: seen });
  });

  // Read by the fast path, and by Node.
  const lanes = [
    { lines: "", next: "GET /nothing HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n" },
    { lines: "connection: close\r\n", next: "" },
  ];
  test.each(["nonsense", "a/b/c", ";"])("the operation decides whether %j is a content type", async (type) => {
    for (const { lines, next } of lanes) {
      const head = `HTTP/1.1\r\nhost: here\r\ncontent-type: ${type}\r\n${lines}content-length: 2\r\n\r\n`;
      const send = (path: string) => rawExchange(server.url, `POST ${path} ${head}{}${next}`);
      expect(await send("/large")).toContain(`"contentType":"${type === ";" ? "" : type}"`);
      expect(await send("/locked")).toContain("HTTP/1.1 401");
    }
  });
});

describe("JSON bodies", () => {
  const json = { "content-type": "application/json" };

  test.each(["application/json", "APPLICATION/JSON; Charset=UTF-8", "application/vnd.api+json", "text/plain"])(
    "%s is JSON",
    async (type) => {
      expect(await (await post("/json", '{"name":"é"}', { "content-type": type })).json()).toEqual({
        name: "é",
        items: [],
      });
    },
  );

  test("a byte order mark is skipped", async () => {
    expect((await post("/json", '\ufeff{"name":"x"}', json)).status).toBe(200);
  });

  test("invalid JSON is 400, also for endpoints whose field errors are 422", async () => {
    for (const path of ["/json", "/strict"]) {
      for (const body of ["{", "{'a':1}", '{"name":"x"}}', "NaN"]) {
        const response = await post(path, body, json);
        expect(response.status).toBe(400);
      }
    }
  });

  test("another media type is 415", async () => {
    expect((await post("/json", "<a/>", { "content-type": "application/xml" })).status).toBe(415);
  });

  test.each([
    ["/json", 400, "invalid_request"],
    ["/strict", 422, "validation_failed"],
  ])("%s answers a bad field with %i and the problems by field", async (path, status, code) => {
    const response = await post(path, '{"name":1,"items":[{"cost":1},{"cost":"x"}]}', json);
    expect(response.status).toBe(status);
    const body = (await response.json()) as { code: string; errors: Record<string, string[]> };
    expect(body.code).toBe(code);
    expect(body.errors).toEqual({ name: ["must be text"], "items.1.cost": ["must be a number"] });
  });

  test("an absent body is an empty object, so missing fields are named", async () => {
    const body = (await (await post("/json", undefined)).json()) as { errors: object };
    expect(body.errors).toEqual({ name: ["is required"] });
  });

  test("a control body has its own, smaller bound", async () => {
    const response = await post("/json", JSON.stringify({ name: "x".repeat(httpLimits.controlBodyBytes) }), json);
    expect(response.status).toBe(413);
  });
});

function corrupt(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let i = 20; i < 30; i += 1) copy[i] = 255 - (copy[i] ?? 0);
  return copy;
}

async function gzippedZeros(mebibytes: number): Promise<Buffer> {
  const gzip = createGzip({ level: 9 });
  const chunks: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => chunks.push(chunk));
  const zeros = Buffer.alloc(MiB);
  for (let i = 0; i < mebibytes; i += 1) {
    if (!gzip.write(zeros)) await new Promise((resolve) => gzip.once("drain", resolve));
  }
  await new Promise<void>((resolve) => gzip.once("end", resolve).end());
  return Buffer.concat(chunks);
}

/** Sends a chunked body that never ends, until the server closes the connection. */
function sendWithoutEnd(url: string, path: string): Promise<{ answer: string; sentBytes: number }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let sentBytes = 0;
    let answer = "";
    const socket = connect(Number(port), hostname);
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`);
    const sender = setInterval(() => {
      sentBytes += 4096;
      socket.write(`1000\r\n${"a".repeat(4096)}\r\n`);
    }, 5);
    socket.on("data", (chunk) => (answer += chunk.toString()));
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(sender);
      resolve({ answer, sentBytes });
    });
  });
}

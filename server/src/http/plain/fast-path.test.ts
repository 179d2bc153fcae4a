import { connect, type Socket } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { httpLimits } from "../limits.ts";
import { endpoint } from "../endpoint.ts";
import { rawExchange, startServer, until } from "../test-support.ts";
import { readPlainHead } from "./fast-path.ts";

const shared = { method: "POST", summary: "A demo", tags: ["Demo"], errors: [], auth: "none" } as const;
const anything = z.unknown();
const MiB = 1024 * 1024;
let streamed = Promise.withResolvers<AbortSignal>();

const endpoints = [
  endpoint({
    ...shared,
    id: "echo",
    path: "/echo",
    body: { kind: "raw", maxBytes: MiB },
    success: { status: 200, schema: anything },
    handler: ({ body, headers }) => {
      const { date: _date, ...rest } = headers;
      return { text: body.bytes.toString("latin1"), headers: rest };
    },
  }),
  endpoint({ ...shared, method: "GET", id: "get", path: "/get", success: { status: 204 }, handler: () => undefined }),
  endpoint({
    ...shared,
    id: "stream",
    path: "/stream",
    body: { kind: "raw", maxBytes: MiB },
    success: { status: 200 },
    handler(context) {
      const response = context.hijack();
      response.writeHead(200, { "content-type": "text/plain" });
      response.write("one, ");
      response.write("");
      response.write(Buffer.from("twö, "));
      response.write("x".repeat(100_000));
      if (context.body.bytes.toString() === "and stay") streamed.resolve(context.signal);
      else response.end(" three");
    },
  }),
  endpoint({
    ...shared,
    id: "bad_header",
    path: "/bad-header",
    body: { kind: "raw", maxBytes: MiB },
    success: { status: 200 },
    handler(context) {
      context.hijack().writeHead(200, { "x-model": "gpt\r\nset-cookie: a=b" });
    },
  }),
];

let endings = 0;
endpoints.push(
  endpoint({
    ...shared,
    id: "last",
    path: "/last",
    body: { kind: "raw", maxBytes: MiB },
    success: { status: 200 },
    handler(context) {
      endings += 1;
      const response = context.hijack();
      response.writeHead(200, { connection: "close", "content-length": 3 });
      response.end("end");
    },
  }),
);

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer({ endpoints });
});
afterAll(() => server.close());

const requestOf = (body: string | Buffer, { path = "/echo", lines = "" } = {}): Buffer => {
  const bytes = Buffer.from(body);
  const head = `POST ${path} HTTP/1.1\r\nHost: here\r\nContent-Length: ${bytes.length}\r\n${lines}\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
};
const last = (body = ""): Buffer =>
  Buffer.from(
    `POST /echo HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
const getOnce = "GET /get HTTP/1.1\r\nhost: here\r\n\r\n";

/** The bodies and statuses of the responses on a connection, in order. */
function answersIn(text: string): { status: number; text: string }[] {
  return text.split(/(?=HTTP\/1\.1 )/).flatMap((answer) => {
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
    const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
    return [{ status, text: body.startsWith("{") ? ((JSON.parse(body) as { text?: string }).text ?? body) : body }];
  });
}

/** Writes pieces with pauses between them, so that each arrives separately. */
function sendPieces(pieces: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port), noDelay: true }, () => {
      const next = (index: number): void => {
        const piece = pieces[index];
        if (piece === undefined) return;
        socket.write(piece);
        setTimeout(next, 1, index + 1);
      };
      next(0);
    });
    socket.on("data", (chunk) => chunks.push(chunk)).on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  });
}

/**
 * Writes each request after the previous response; returns all bytes received, also from a connection that was closed
 * early.
 */
function sendInTurn(requests: readonly Buffer[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const answers: string[] = [];
    let text = "";
    const next = (): void => {
      const request = requests[answers.length];
      if (request !== undefined) socket.write(request);
    };
    const socket = connect(Number(port), hostname, next);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      text = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "");
      const end = text.indexOf("\r\n\r\n") + 4;
      if (end < 4 || text.length < end + Number(/^content-length: (\d+)/im.exec(text.slice(0, end))?.[1] ?? 0)) return;
      answers.push(text);
      text = "";
      next();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => error.code === "ECONNRESET" || reject(error));
    socket.on("close", () => resolve(text === "" ? answers : [...answers, text]));
    socket.setTimeout(1_500, () => socket.destroy());
  });
}

describe("requests on one connection are answered in order", () => {
  test("however their bytes are split", async () => {
    const whole = Buffer.concat([requestOf("first"), requestOf("zweité"), requestOf(""), last("end")]);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(whole.length), { maxLength: 6 }), async (offsets) => {
        const at = [0, ...offsets.toSorted((a, b) => a - b), whole.length];
        const pieces = at.slice(1).map((end, index) => whole.subarray(at[index], end));
        const answers = answersIn(await sendPieces(pieces.filter((piece) => piece.length > 0)));
        const texts = answers.map(({ text }) => Buffer.from(text, "latin1").toString());
        expect(texts).toEqual(["first", Buffer.from("zweité").toString("latin1"), "", "end"]);
      }),
      { numRuns: 40 },
    );
  });

  test("also if they are pipelined, with other requests between them", async () => {
    const chunked = "POST /echo HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    const sent = [requestOf("one"), requestOf("", { path: "/stream" }), getOnce, chunked, requestOf("four"), last("z")];
    const answers = answersIn(await rawExchange(server.url, ...sent));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 204, 200, 200, 200]);
    expect(answers.map(({ text }) => text).filter((_, index) => index !== 1)).toEqual(["one", "", "abc", "four", "z"]);
  });

  test("except after a response that ends the connection", async () => {
    const last = requestOf("x", { path: "/last" });
    const answers = answersIn(await rawExchange(server.url, Buffer.concat([last, last]), last));
    expect(answers.map(({ text }) => text)).toEqual(["end"]);
    expect(endings).toBe(1);
  });

  test("a request in very small pieces goes to Node and is complete", async () => {
    const pieces = Array.from(requestOf("x".repeat(40)), (byte) => Buffer.of(byte));
    const answers = answersIn(await sendPieces([...pieces, last("z")]));
    expect(answers.map(({ text }) => text)).toEqual(["x".repeat(40), "z"]);
  });

  test("a body larger than the fast path buffers goes to Node and is complete", async () => {
    const big = "x".repeat(httpLimits.plainBodyBytes + 1);
    const answers = answersIn(await rawExchange(server.url, requestOf("a"), requestOf(big), last("b")));
    expect(answers.map(({ text }) => text.length)).toEqual([1, big.length, 1]);
  });
});

/** Lines that one parser may accept and another refuse, or read differently. */
const oddLine = fc.oneof(
  fc.constantFrom(
    "Content-Length: 3",
    "content-length:5",
    "Content-Length: +2",
    "Content-Length: 2, 2",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: identity",
    "Host: elsewhere",
    "Expect: 100-continue",
    "Connection: close",
    "Connection: keep-alive, x-one",
    "Connection: upgrade",
    "Upgrade: h2c",
    "X-One: \u00e9",
    "X-One:\tpadded \t",
    "X-One : space",
    " folded: 1",
    "X_One: 1",
    "__proto__: 1",
    "constructor: x",
    "X-One",
    ": nothing",
    "X-One: a\rb",
    "X-One: a\nb",
    "X-One: a\0b",
    "X-Two: \x7f",
    "Cookie: a=1",
    "cookie: b=2",
    "Content-Type: text/plain",
  ),
  // An empty line would end the head, and the rest would be another request.
  fc.string({ minLength: 1, maxLength: 12, unit: "binary-ascii" }).filter((line) => !/[\r\n]/.test(line)),
);
const path = fc.constantFrom("/echo", "/echo/", "/echo?x=1", "/ECHO", "//echo", "/ec%68o", "http://here/echo", "*");

test("odd heads get the same response as from Node", async () => {
  const withoutIds = (text: string): string =>
    text
      .replaceAll(/(?:x-request-id|date|keep-alive|connection): .*\r\n/gi, "")
      .replaceAll(/"request_id":"[^"]*"/g, "")
      .split("\r\n")
      .filter((line) => line !== "")
      .join("\n");
  await fc.assert(
    fc.asyncProperty(fc.array(oddLine, { maxLength: 3 }), path, async (lines, target) => {
      const head = [`POST ${target} HTTP/1.1`, "Host: here", ...lines, "Content-Length: 2"].join("\r\n");
      const odd = Buffer.from(`${head}\r\n\r\nok`, "latin1");
      const plain = await sendInTurn([odd, last()]);
      // After a GET, Node has the connection.
      const [first, ...node] = await sendInTurn([Buffer.from(getOnce), odd, last()]);
      expect(first).toContain(" 204 ");
      const sorted = (text: string): string[] => withoutIds(text).split("\n").toSorted();
      expect(plain.map(sorted)).toEqual(node.map(sorted));
    }),
    { numRuns: 300 },
  );
}, 60_000);

describe("responses", () => {
  test("without a stated length are chunked, whatever they consist of", async () => {
    const response = await fetch(`${server.url}/stream`, { method: "POST", body: "x" });
    expect(response.headers.get("transfer-encoding")).toBe("chunked");
    expect(await response.text()).toBe(`one, twö, ${"x".repeat(100_000)} three`);
  });

  test("contain no header that would be read as several", async () => {
    const response = await fetch(`${server.url}/bad-header`, { method: "POST", body: "x" });
    expect(response.status).toBe(500);
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("are aborted for a client that disconnects, and logged as such", async () => {
    streamed = Promise.withResolvers();
    const leaving = new AbortController();
    const init = { method: "POST", body: "and stay", signal: leaving.signal };
    await fetch(`${server.url}/stream`, init);
    const signal = await streamed.promise;
    leaving.abort();
    await until(() => signal.aborted);
    await until(() => server.logLines.some(({ route, status }) => route === "/stream" && status === 499));
    expect(signal.reason).toBeDefined();
  });
});

test("a server that stops closes idle connections and lets responses in progress end", async () => {
  const own = await startServer({ endpoints });
  const { hostname, port } = new URL(own.url);
  const open = (): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(socket));
    });
  const [fresh, idle, busy] = await Promise.all([open(), open(), open()]);
  const closed = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once("close", resolve));
  idle.write(requestOf("x"));
  await new Promise((resolve) => idle.once("data", resolve));
  streamed = Promise.withResolvers();
  busy.write(requestOf("and stay", { path: "/stream" }));
  const signal = await streamed.promise;
  const stopping = own.close();
  busy.resume();
  await Promise.all([closed(fresh), closed(idle)]);
  expect(signal.aborted).toBe(false);
  busy.destroy();
  await stopping;
});

const requestLine = /^POST (\/[\w\-./~]*) HTTP\/1\.1\r\n/;
const headerLine = /([a-z][\w!#$%&'*+.^`|~-]*):[\t ]*([\t\x20-\x7e]*)\r\n/iy;
const special = /^(?:transfer-encoding|te|trailer|expect|upgrade|proxy-connection|http2-settings)$/;

/** The expected result, by the grammar of a head's lines. */
function expectedHead(text: string): unknown {
  if (!text.startsWith("POST /".slice(0, text.length))) return "other";
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return "partial";
  const lines = text.slice(0, end + 2);
  const [first = "", path] = requestLine.exec(lines) ?? [];
  if (path === undefined) return "other";
  const headers: Record<string, string> = {};
  for (let at = first.length; at < lines.length; at = headerLine.lastIndex) {
    headerLine.lastIndex = at;
    const [, sentName = "", value = ""] = headerLine.exec(lines) ?? [];
    const name = sentName.toLowerCase();
    if (name === "" || name in headers || special.test(name)) return "other";
    if (name === "connection" && value.trim().toLowerCase() !== "keep-alive") return "other";
    headers[name] = value.trimEnd();
  }
  const { host, "content-length": length = "" } = headers;
  if (host === undefined || !/^\d{1,7}$/.test(length) || Number(length) > httpLimits.plainBodyBytes) return "other";
  return { path, headers, headBytes: end + 4, bodyBytes: Number(length) };
}

/** Mostly plain values: a single unusual one sends a head to Node. */
const mostly = <T>(plain: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 12, arbitrary: plain }, { weight: 1, arbitrary: odd });
const oddText = fc.oneof(
  fc.constantFrom("", " ", "\t", "\r", "\n", "\0", "\x7f", "\xa0", "\xe9", ":", "/", "a\r\nb: c"),
  fc.string({ maxLength: 6, unit: "binary-ascii" }),
);
const blanks = mostly(fc.constantFrom("", " ", "\t", "\t \t"), oddText);
const name = mostly(
  fc.oneof(
    fc.constantFrom("Accept", "authorization", "Connection", "X-Stainless-OS"),
    fc.stringMatching(/^X-[a-z0-9.|~]{2}$/),
  ),
  fc.oneof(fc.constantFrom("constructor", "__proto__", "TE", "Expect"), fc.stringMatching(/^[!-~]{1,6}$/), oddText),
);
const value = mostly(
  fc.constantFrom("keep-alive", "Keep-Alive", "KEEP-ALIVE"),
  fc.constantFrom("close", "a: b", "1\t2", ""),
);
const line = fc
  .tuple(name, blanks, mostly(value, oddText), blanks)
  .map(([sent, before, text, after]) => [sent, ":", before, text, after].join(""));
const target = mostly(fc.constantFrom("/v1/chat/completions", "/", "/a~b_c.d"), oddText);

test("a head is parsed by its grammar, and any other head is left to Node", () => {
  fc.assert(
    fc.property(
      fc.tuple(
        mostly(fc.constant("POST"), fc.constantFrom("PUT", "POS")),
        target,
        mostly(fc.constant(" HTTP/1.1"), fc.constantFrom("", " HTTP/1.0")),
      ),
      fc.array(line, { maxLength: 3 }),
      mostly(
        fc.constantFrom("Content-Length: 12", "content-length:\t1 "),
        fc.constantFrom("Content-Length: 99999999", "Content-Length: 1x"),
      ),
      mostly(fc.constantFrom("\r\n\r\n", "\r\n\r\n{}"), fc.constantFrom("\r\n\r", "")),
      ([method, path, version], lines, length, end) => {
        const text = [`${method} ${path}${version}`, "Host: here", ...lines, length].join("\r\n") + end;
        expect(readPlainHead(Buffer.from(text, "latin1"))).toEqual(expectedHead(text));
      },
    ),
    { numRuns: 3_000 },
  );
});

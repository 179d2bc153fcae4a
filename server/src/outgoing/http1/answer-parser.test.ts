import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outgoingLimits } from "../limits.ts";
import { AnswerParser, parseHead, Section } from "./answer-parser.ts";

type Reading = { status?: number; headers?: Record<string, unknown>; body: string; end: string; idleMs: number };

/** The result of parsing `bytes`, split at `cuts`, after which the peer closes. */
function read(bytes: Buffer, offsets: readonly number[] = [], method = "POST"): Reading {
  const reading: Reading = { body: "", end: "", idleMs: 0 };
  const parser = new AnswerParser(method, {
    onHead: (status, headers) => Object.assign(reading, { status, headers: { ...headers } }),
    onData: (piece) => void (reading.body += piece.toString("latin1")),
  });
  const edges = [...offsets, bytes.length].sort((a, b) => a - b);
  let taken = 0;
  try {
    let at = 0;
    for (const edge of edges) {
      if (edge > at && !parser.isComplete) taken += parser.push(Buffer.from(bytes.subarray(at, edge)));
      at = edge;
    }
    if (!parser.isComplete) parser.finish();
    reading.end = `complete after ${taken}`;
    reading.idleMs = parser.idleMs;
  } catch (error) {
    reading.end = (error as Error & { code: string }).code;
  }
  return reading;
}

const readText = (text: string, method?: string): Reading => read(Buffer.from(text, "latin1"), [], method);
const ok = "HTTP/1.1 200 OK\r\n";

describe("bodies end", () => {
  test.each<[what: string, answer: string, body: string, mayRest: boolean]>([
    ["by their length", `${ok}Content-Length: 5\r\n\r\nhello`, "hello", true],
    ["immediately with a length of 0", `${ok}content-length: 0\r\n\r\n`, "", true],
    [
      "with the last chunk",
      `${ok}Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n06\r\n world\r\n0\r\n\r\n`,
      "hello world",
      true,
    ],
    [
      "after extensions and trailers",
      `${ok}transfer-encoding: chunked\r\n\r\nA;a="b;c"\r\n0123456789\r\n0;x\r\nDigest: x\r\nY: z\r\n\r\n`,
      "0123456789",
      true,
    ],
    ["with the connection", `${ok}\r\nhello`, "hello", false],
    ["at the head of a 204", "HTTP/1.1 204 No Content\r\n\r\n", "", true],
    ["at the head of a 304 that states a length", "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", "", false],
    [
      "by chunks if a length contradicts them",
      `${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      "hello",
      false,
    ],
  ])("%s", (_what, answer, body, mayIdle) => {
    expect(readText(answer)).toMatchObject({ body, end: `complete after ${answer.length}` });
    expect(readText(answer).idleMs > 0).toBe(mayIdle);
  });

  test("at the head of a response to HEAD", () => {
    const answer = `${ok}content-length: 5\r\n\r\n`;
    expect(readText(answer, "HEAD")).toMatchObject({ body: "", end: `complete after ${answer.length}` });
  });
});

describe("connections may be idle", () => {
  const keepAliveMs = outgoingLimits.upstreamKeepAliveMs;
  test.each<[version: string, headers: string, restMs: number]>([
    ["1.1", "", keepAliveMs],
    ["1.1", "connection: Close\r\n", 0],
    ["1.1", "connection: x, close\r\n", 0],
    ["1.1", "connection: closed\r\n", keepAliveMs],
    ["1.0", "", 0],
    ["1.0", "connection: Keep-Alive\r\n", keepAliveMs],
    ["1.1", "keep-alive: timeout=5, max=100\r\n", 4_000],
    ["1.1", "keep-alive: max=100, timeout=600\r\n", keepAliveMs],
    ["1.1", "keep-alive: timeout=1\r\n", 0],
  ])("after HTTP/%s with %j for %i ms", (version, headers, idleMs) => {
    expect(readText(`HTTP/${version} 200 OK\r\n${headers}content-length: 0\r\n\r\n`).idleMs).toBe(idleMs);
  });
});

test("provisional responses are skipped", () => {
  const answer =
    "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 1\r\n\r\nx";
  expect(readText(answer)).toMatchObject({ status: 201, body: "x" });
});

test("provisional responses are refused once their total length exceeds the bound of a head", () => {
  const hint = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";
  const most = Math.floor(outgoingLimits.upstreamHeadBytes / hint.length);
  const answer = `${ok}content-length: 1\r\n\r\nx`;
  expect(readText(hint.repeat(most) + answer)).toMatchObject({ status: 200, body: "x" });
  const flood = Buffer.from(hint.repeat(most + 1) + answer);
  expect(read(flood).end).toBe("BAD_ANSWER");
  const offsets = Array.from({ length: most }, (_, index) => index * hint.length);
  expect(read(flood, offsets)).toMatchObject({ end: "BAD_ANSWER", body: "" });
});

test("header lines of one name are joined, cookies are not, and names such as constructor are ordinary names", () => {
  const { headers } = readText(
    `${ok}A: 1\r\na:\t2 \t\r\nSet-Cookie: a=1, b\r\nset-cookie: c\r\n__proto__: p\r\nconstructor: c\r\nx: \xe9\xa0\r\n\r\n`,
  );
  expect(Object.entries(headers ?? {})).toEqual([
    ["a", "1, 2"],
    ["set-cookie", ["a=1, b", "c"]],
    ["__proto__", "p"],
    ["constructor", "c"],
    ["x", "\xe9\xa0"],
  ]);
});

test("bytes after the response are left unread", () => {
  const answer = `${ok}content-length: 2\r\n\r\nhi`;
  expect(readText(`${answer}HTTP/1.1 200 OK\r\n`)).toMatchObject({
    body: "hi",
    end: `complete after ${answer.length}`,
  });
});

const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;
const refused: [what: string, answer: string][] = [
  ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n"],
  ["HTTP/2", "HTTP/2.0 200 OK\r\n\r\n"],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["an upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  ["a line that ends with only LF", `${ok}a: b\nc: d\r\n\r\n`],
  ["a head that ends with only LF", "HTTP/1.1 200 OK\n\n"],
  ["a CR within a line", `${ok}a: b\rc: d\r\n\r\n`],
  ["NUL", `${ok}a: b\0\r\n\r\n`],
  ["a folded line", `${ok}a: b\r\n c\r\n\r\n`],
  ["a blank before the colon", `${ok}a : b\r\n\r\n`],
  ["a line without colon", `${ok}a\r\nb: c\r\n\r\n`],
  ["a line without name", `${ok}: b\r\n\r\n`],
  ["two lengths", `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
  ["a negative length", `${ok}content-length: -1\r\n\r\n`],
  ["a length that is not a number", `${ok}content-length: 0x1\r\n\r\n`],
  ["a length without digits", `${ok}content-length:\r\n\r\n`],
  ["an unknown coding", `${ok}transfer-encoding: gzip, chunked\r\n\r\n`],
  ["chunks announced twice", `${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`],
  ["a chunk without size", `${chunked}\r\nhello\r\n`],
  ["a chunk's size that is not a number", `${chunked}5g\r\nhello\r\n`],
  ["a blank after a chunk's size", `${chunked}5 \r\nhello\r\n`],
  ["a chunk longer than its size", `${chunked}4\r\nhello\r\n0\r\n\r\n`],
  ["a chunk line that ends with only LF", `${chunked}5\nhello\r\n0\r\n\r\n`],
  ["LF within a chunk's extension", `${chunked}5;a\nb\r\nhello\r\n0\r\n\r\n`],
  ["a blank in a chunk's extension", `${chunked}5; a=b\r\nhello\r\n0\r\n\r\n`],
  ["an unclosed quote in a chunk's extension", `${chunked}5;a="b\r\nhello\r\n0\r\n\r\n`],
  ["a chunk's extension without name", `${chunked}5;\r\nhello\r\n0\r\n\r\n`],
  ["a chunk larger than any safe integer", `${chunked}ffffffffffffffff\r\n`],
  ["a malformed trailer", `${chunked}0\r\nnonsense\r\n\r\n`],
  ["a head that is too long", `${ok}a: ${"x".repeat(outgoingLimits.upstreamHeadBytes)}\r\n\r\n`],
  ["too many header lines", `${ok}${"a: b\r\n".repeat(outgoingLimits.upstreamHeaderLines + 1)}\r\n`],
  [
    "a chunk extension that is too long",
    `${chunked}5;${"x".repeat(outgoingLimits.upstreamChunkLineBytes)}\r\nhello\r\n0\r\n\r\n`,
  ],
  ["trailers that are too long", `${chunked}0\r\n${`a: ${"x".repeat(1_000)}\r\n`.repeat(70)}\r\n`],
];

test.each(refused)("%s is refused as soon as it is detected", (_what, answer) => {
  expect(readText(answer).end).toBe("BAD_ANSWER");
});

test.each([
  ["before the head", ""],
  ["within the head", "HTTP/1.1 200 OK\r\na: b"],
  ["within a length", `${ok}content-length: 5\r\n\r\nhell`],
  ["within a chunk", `${chunked}5\r\nhell`],
  ["before the last chunk", `${chunked}5\r\nhello\r\n`],
  ["within the trailers", `${chunked}0\r\na: b\r\n`],
  ["after a provisional response", "HTTP/1.1 100 Continue\r\n\r\n"],
])("a peer that closes %s leaves the response incomplete", (_what, answer) => {
  expect(readText(answer).end).toBe("CONNECTION_CLOSED");
});

const words = fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/);
const fields = fc.array(fc.tuple(fc.stringMatching(/^x-[a-z0-9]{1,8}$/), words), { maxLength: 6 });
const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 5 });

/** A valid response: some framing around a body, and the expected result. */
const answers = fc
  .record({
    status: fc.constantFrom(200, 201, 204, 304, 400, 404, 429, 500),
    version: fc.constantFrom("1.0", "1.1"),
    framing: fc.constantFrom("length", "chunked", "close"),
    fields,
    pieces: bodies,
    extension: fc.constantFrom("", ";a", ";a=b", ';a="b c"'),
    trailer: fc.constantFrom("", "x-t: 1\r\n"),
  })
  .map(({ status, version, framing, fields: lines, pieces, extension, trailer }) => {
    const head = lines.map(([name, text]) => `${name}: ${text}\r\n`).join("");
    const bare = status === 204 || status === 304;
    const latin = pieces.map((piece) => Buffer.from(piece).toString("latin1"));
    const isChunked = framing === "chunked" && version === "1.1" && !bare;
    const body = latin.join("");
    const say =
      bare || framing === "close"
        ? ""
        : isChunked
          ? "transfer-encoding: chunked\r\n"
          : `content-length: ${body.length}\r\n`;
    const chunks = latin.map((piece) => `${piece.length.toString(16)}${extension}\r\n${piece}\r\n`).join("");
    const sent = bare ? "" : isChunked ? `${chunks}0${extension}\r\n${trailer}\r\n` : body;
    return Buffer.from(`HTTP/${version} ${status} Fine\r\n${head}${say}\r\n${sent}`, "latin1");
  });

/** Valid responses, some with a few bytes changed to ones that matter to framing, and some nonsense. */
const anything = fc.oneof(
  answers,
  fc
    .tuple(
      answers,
      fc.array(fc.tuple(fc.nat(400), fc.constantFrom(0, 9, 10, 13, 32, 48, 58, 59, 127, 255)), { maxLength: 3 }),
    )
    .map(([bytes, changes]) => {
      const changed = Buffer.from(bytes);
      for (const [at, byte] of changes) changed[at % changed.length] = byte;
      return changed;
    }),
  fc
    .constantFrom(...refused.map(([, answer]) => answer).filter(({ length }) => length < 1_000))
    .map((text) => Buffer.from(text, "latin1")),
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
);

test("the result does not depend on where the bytes are split, and only ExchangeErrors are thrown", () => {
  fc.assert(
    fc.property(anything, fc.array(fc.nat(600), { maxLength: 12 }), (bytes, offsets) => {
      const whole = read(bytes);
      expect(whole.end).toMatch(/^(?:complete after \d+|BAD_ANSWER|CONNECTION_CLOSED)$/);
      const within = offsets.filter((offset) => offset < bytes.length);
      expect(read(bytes, within)).toEqual(whole);
      expect(read(bytes, Array.from(bytes.keys()))).toEqual(whole);
    }),
    { numRuns: 2_000 },
  );
});

describe("against Node's own client", () => {
  /** The result of node:http for the same bytes. */
  async function readByNode(bytes: Buffer): Promise<Pick<Reading, "status" | "headers" | "body"> | "refused"> {
    const server = createServer((socket) => {
      socket.on("error", () => undefined).once("data", () => socket.end(bytes));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      return await new Promise((resolve) => {
        const { port } = server.address() as AddressInfo;
        const sent = request({
          port,
          host: "127.0.0.1",
          method: "POST",
          agent: false,
          maxHeaderSize: outgoingLimits.upstreamHeadBytes,
        });
        const onAnswer = (answer: IncomingMessage): void => {
          let body = "";
          answer.setEncoding("latin1").on("data", (text: string) => void (body += text));
          answer.on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, body }));
          answer.on("error", () => resolve("refused"));
        };
        sent
          .on("response", onAnswer)
          .on("upgrade", () => resolve("refused"))
          .on("error", () => resolve("refused"));
        sent.end();
      });
    } finally {
      server.close();
    }
  }

  test("valid responses give the same result", async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (bytes) => {
        const { status, headers, body } = read(bytes);
        expect({ status, headers, body }).toEqual(await readByNode(bytes));
      }),
      { numRuns: 150 },
    );
  });

  test("responses that Node refuses are refused", async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (bytes) => {
        const { end } = read(bytes);
        // Node may refuse a response for the bytes after it: here it is accepted, and its connection is closed.
        if (/^complete after \d+$/.test(end) && end !== `complete after ${bytes.length}`) return;
        if ((await readByNode(bytes)) !== "refused") return;
        expect(end).toMatch(/^(?:BAD_ANSWER|CONNECTION_CLOSED)$/);
      }),
      { numRuns: 300 },
    );
  });
});

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?\r\n/;

/** The expected result, by the grammar of the first line. */
function expectedHead(text: string): unknown {
  const match = statusLine.exec(text);
  if (match === null) return "BAD_ANSWER";
  return { minorVersion: Number(match[1]), status: Number(match[2]), headers: [["a", "b"]] };
}

function headOf(text: string): unknown {
  try {
    const { headers, ...rest } = parseHead(Buffer.from(`${text}\r\nbody`, "latin1"), text.length);
    return { ...rest, headers: Object.entries(headers) };
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test("a status line is a version, a status, and any text after a space", () => {
  const odd = fc.constantFrom("", " ", "\t", "0", "1", "2", "9", "/", ":", "x", "\xa0", "\xb2");
  const minor = fc.oneof(fc.constantFrom("0", "1"), odd);
  const blank = fc.oneof(fc.constant(" "), odd);
  const status = fc.oneof(fc.nat(1_100).map(String), fc.constantFrom("2x0", "20\xb2", "099", "100", "999"));
  const reason = fc.oneof(fc.constantFrom("", " ", " OK", " \xe9 ok"), odd);
  fc.assert(
    fc.property(fc.tuple(minor, blank, status, reason), (parts) => {
      const text = `HTTP/1.${parts.join("")}\r\na: b\r\n`;
      expect(headOf(text)).toEqual(expectedHead(text));
    }),
    { numRuns: 2_000 },
  );
});

// oxlint-disable-next-line no-control-regex
const illegal = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n|$)|(?<!\r)\n/;
const start = "HTTP";

type Taken = { taken: number; lines?: string } | "BAD_ANSWER";

/** The expected result for all bytes so far, by the grammar of lines. */
function expectedSection(text: string): Taken {
  const end = text.indexOf("\r\n\r\n");
  const lines = end === -1 ? text : text.slice(0, end + 2);
  if (!lines.startsWith(start.slice(0, lines.length)) || illegal.test(lines)) return "BAD_ANSWER";
  return end === -1 ? { taken: -1 } : { taken: end + 4, lines };
}

function take(text: string): Taken {
  const section = new Section(Buffer.from(start));
  try {
    const taken = section.take(Buffer.from(text, "latin1"));
    return taken === -1 ? { taken } : { taken, lines: section.bytes.toString("latin1", 0, section.end) };
  } catch (error) {
    return (error as { code: "BAD_ANSWER" }).code;
  }
}

const linePieces = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "a: b", "\r\n", "\r\n", "\r\n\r\n", "\r", "\n", "\t", "\x7f", "\xe9") },
  { weight: 1, arbitrary: fc.nat(255).map((code) => String.fromCharCode(code)) },
);

test("lines contain no control characters and end only with CRLF, up to the first blank one", () => {
  fc.assert(
    fc.property(fc.constantFrom("HTTP/1.1 200 OK", "HT", "HTTQ", ""), fc.array(linePieces), (first, rest) => {
      const text = first + rest.join("");
      expect(take(text)).toEqual(expectedSection(text));
    }),
    { numRuns: 3_000 },
  );
});

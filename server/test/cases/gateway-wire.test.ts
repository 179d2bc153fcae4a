import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { completion, done, eventsOf, helloStream, question, textOf } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import type { Script } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** Upstreams with unusual or wrong HTTP: every byte is written here. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ SPANWAY_UPSTREAM_FIRST_BYTE_MS: "1500", SPANWAY_UPSTREAM_IDLE_MS: "1500" });
});
afterAll(() => gateway.stop());

let client: TestClient;
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
  gateway.upstream.requests.length = 0;
});

const whole = JSON.stringify(completion());
const json = "content-type: application/json\r\n";
const events = "content-type: text/event-stream\r\n";
const hello = [...helloStream, done].join("");

/** Sends these writes, then closes the connection unless told otherwise. */
const wire =
  (writes: ReadonlyArray<string | Buffer>, end: "close" | "keep" | "reset" = "close"): Script =>
  async (connection) => {
    for (const bytes of writes) {
      await connection.write(bytes);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (end === "reset") connection.reset();
    return end === "close" ? "close" : undefined;
  };

const chunked = (text: string, size: number): string => {
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  );
  return (
    pieces.map((piece) => `${piece.length.toString(16)};ext=1\r\n${piece.toString("latin1")}\r\n`).join("") +
    "0\r\nx-trailer: 1\r\n\r\n"
  );
};

async function send(script: Script, members: Row = {}): Promise<Answer> {
  gateway.upstream.script(script);
  return client.post("/v1/chat/completions", { model: "gpt-4o", messages: [question], retries: 0, ...members });
}

async function recorded(): Promise<Row> {
  const { results, count } = await client.waitForSpans(1);
  expect(count).toBe(1);
  return results[0] ?? {};
}

describe("unusual responses are accepted", () => {
  test.each<[what: string, script: Script]>([
    [
      "a write for each byte",
      wire(
        Array.from(Buffer.from(`HTTP/1.1 200 OK\r\n${json}content-length: ${whole.length}\r\n\r\n${whole}`), (byte) =>
          Buffer.from([byte]),
        ),
      ),
    ],
    [
      "chunks of one byte, with extensions and trailers",
      wire([`HTTP/1.1 200 OK\r\n${json}transfer-encoding: chunked\r\n\r\n`, chunked(whole, 1)], "keep"),
    ],
    ["HTTP/1.0, ended by the connection", wire([`HTTP/1.0 200 OK\r\n${json}\r\n`, whole])],
    ["no reason phrase", wire([`HTTP/1.1 200 \r\n${json}content-length: ${whole.length}\r\n\r\n${whole}`])],
    [
      "early hints and processing before it",
      wire([
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n",
        "HTTP/1.1 102 Processing\r\n\r\n",
        `HTTP/1.1 200 OK\r\n${json}content-length: ${whole.length}\r\n\r\n${whole}`,
      ]),
    ],
    ["a BOM and white space around the JSON", wire([`HTTP/1.1 200 OK\r\n${json}\r\n`, `\r\n ${whole}\n\n`])],
    [
      "a content type in capitals with parameters",
      wire([`HTTP/1.1 200 OK\r\nContent-Type: APPLICATION/JSON; Charset=UTF-8\r\n\r\n${whole}`]),
    ],
  ])("whole: %s", async (_what, script) => {
    const answer = await send(script);
    expect([answer.status, answer.json]).toEqual([200, completion()]);
    expect(await recorded()).toMatchObject({ status_code: 200, total_tokens: 12 });
  });

  test.each<[what: string, script: Script]>([
    ["CR LF lines", wire([`HTTP/1.1 200 OK\r\n${events}\r\n`, hello.replaceAll("\n", "\r\n")])],
    ["CR lines", wire([`HTTP/1.1 200 OK\r\n${events}\r\n`, hello.replaceAll("\n", "\r")])],
    [
      "CR LF cut between CR and LF",
      wire([`HTTP/1.1 200 OK\r\n${events}\r\n`, ...hello.replaceAll("\n", "\r\n").split(/(?<=\r)/)]),
    ],
    [
      "chunks of one byte",
      wire([`HTTP/1.1 200 OK\r\n${events}transfer-encoding: chunked\r\n\r\n`, chunked(hello, 1)], "keep"),
    ],
    ["HTTP/1.0", wire([`HTTP/1.0 200 OK\r\n${events}\r\n`, hello])],
    ["no space after data:", wire([`HTTP/1.1 200 OK\r\n${events}\r\n`, hello.replaceAll("data: ", "data:")])],
    [
      "event, id and retry lines, a BOM first",
      wire([
        `HTTP/1.1 200 OK\r\n${events}\r\n`,
        "\uFEFF",
        hello.replaceAll("data: ", "id: 1\nevent: message\nretry: 10\ndata: "),
      ]),
    ],
    ["103 before it", wire(["HTTP/1.1 103 Early Hints\r\n\r\n", `HTTP/1.1 200 OK\r\n${events}\r\n`, hello])],
    ["no content type at all", wire(["HTTP/1.1 200 OK\r\n\r\n", hello])],
  ])("streamed: %s", async (_what, script) => {
    const answer = await send(script, { stream: true });
    const received = answer.text
      .replaceAll(/\r\n?/g, "\n")
      .replaceAll(/data:(?! )/g, "data: ")
      .replaceAll(/^\uFEFF|^(?:id|event|retry): .*\n/gm, "");
    expect([answer.status, textOf(eventsOf(received))]).toEqual([200, "Hello."]);
    expect(eventsOf(received).at(-1)).toBe("[DONE]");
    expect(await recorded()).toMatchObject({ status_code: 200 });
  });
});

describe("invalid responses are 424, and one span each", () => {
  test.each<[what: string, script: Script]>([
    ["a 200 and a reset", wire([`HTTP/1.1 200 OK\r\n${json}content-length: 900\r\n\r\n`], "reset")],
    [
      "fewer bytes than stated",
      wire([`HTTP/1.1 200 OK\r\n${json}content-length: ${whole.length + 10}\r\n\r\n${whole}`]),
    ],
    ["a half chunk", wire([`HTTP/1.1 200 OK\r\n${json}transfer-encoding: chunked\r\n\r\nff\r\n{"a"`])],
    [
      "an invalid chunk size",
      wire([`HTTP/1.1 200 OK\r\n${json}transfer-encoding: chunked\r\n\r\nzz\r\n${whole}\r\n0\r\n\r\n`]),
    ],
    ["two content lengths", wire([`HTTP/1.1 200 OK\r\n${json}content-length: 5\r\ncontent-length: 9\r\n\r\n${whole}`])],
    ["headers beyond all measure", wire([`HTTP/1.1 200 OK\r\n${json}x-long: ${"x".repeat(300_000)}\r\n\r\n${whole}`])],
    ["no HTTP at all", wire(["SSH-2.0-OpenSSH_9.7\r\n"])],
    ["nothing", wire([])],
    [
      "a switch of protocols",
      wire(["HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"]),
    ],
    ["204", wire(["HTTP/1.1 204 No Content\r\n\r\n"])],
    ["hints without an answer", wire(["HTTP/1.1 103 Early Hints\r\n\r\n"])],
    ["JSON that is cut", wire([`HTTP/1.1 200 OK\r\n${json}\r\n${whole.slice(0, -5)}`])],
    [
      "a completion without a choice",
      wire([`HTTP/1.1 200 OK\r\n${json}\r\n{"object":"chat.completion","choices":[]}`]),
    ],
    ["HTML", wire(["HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>busy</html>"])],
  ])("%s", async (_what, script) => {
    for (const members of [{}, { stream: true }]) {
      const answer = await send(script, members);
      expect(answer).toMatchObject({
        status: 424,
        json: { error: { message: expect.any(String), type: "upstream_error" } },
      });
      expect(answer.text).not.toContain("127.0.0.1");
    }
    const { results } = await client.waitForSpans(2);
    expect(results).toMatchObject([{ status_code: 424 }, { status_code: 424 }]);
  });

  test("bytes beyond the stated length belong neither to the response nor to the next one", async () => {
    const extra = `HTTP/1.1 200 OK\r\n${json}content-length: ${whole.length}\r\n\r\n${whole}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nstolen`;
    const first = await send(wire([extra], "keep"));
    expect(first.status).toBe(200);
    const next = await send(
      wire([`HTTP/1.1 200 OK\r\n${json}content-length: ${whole.length}\r\n\r\n${whole}`], "keep"),
      { retries: 1 },
    );
    expect([next.status, next.json]).toEqual([200, completion()]);
  });
});

describe("a reused connection that closes without a byte of a response", () => {
  const reply = `HTTP/1.1 200 OK\r\n${json}content-length: ${whole.length}\r\n\r\n${whole}`;

  /** Serves the first request of the connection, then does something else. */
  const thenUsed = async (then: Script, members: Row = {}): Promise<Answer> => {
    const first = await send(wire([reply], "keep"));
    expect(first.status).toBe(200);
    let isUsed = false;
    const second: Script = (...args) => {
      if (isUsed) return wire([reply], "keep")(...args);
      isUsed = true;
      return then(...args);
    };
    return send(second, members);
  };

  test.each<[end: "close" | "reset", stream: boolean]>([
    ["close", false],
    ["reset", false],
    ["close", true],
    ["reset", true],
  ])(
    "P17: a %s moves the call to another connection, which does not count as a retry (stream: %j)",
    async (end, stream) => {
      const answer = await thenUsed(wire([], end), { stream });
      expect(answer.status).toBe(200);
      expect(stream ? textOf(eventsOf(answer.text)) : answer.json).toEqual(stream ? "Hello." : completion());
      expect(answer.headers.get("x-spanway-attempts")).toBe("1");
      expect(gateway.upstream.requests).toHaveLength(3);
      expect((await retrieveSpan(client, answer.headers.get("x-spanway-log-id")))["attempts"]).toBeNull();
    },
  );

  test.each<[what: string, then: Script]>([
    [
      "in a reset, once somebody can have worked on it",
      async (connection) => {
        await sleep(1_200);
        connection.reset();
        return undefined;
      },
    ],
    [
      "once somebody can have worked on it",
      async () => {
        await sleep(300);
        return "close";
      },
    ],
    ["with a hint that it was taken", wire(["HTTP/1.1 102 Processing\r\n\r\n"], "close")],
  ])("fails the call if it ends %s: an error is better than a second charge", async (_what, then) => {
    expect((await thenUsed(then)).status).toBe(424);
    expect(gateway.upstream.requests).toHaveLength(2);
  });

  test("fails the call if the next connection closes too", async () => {
    await send(wire([reply], "keep"));
    expect((await send(wire([], "close"))).status).toBe(424);
    expect(gateway.upstream.requests).toHaveLength(3);
  });
});

test("a connection that closes at the moment of its reuse fails no call", async () => {
  const reply = `HTTP/1.1 200 OK\r\n${json}connection: keep-alive\r\ncontent-length: ${whole.length}\r\n\r\n${whole}`;
  const fickle: Script = async (connection) => {
    await connection.write(reply);
    setTimeout(() => connection.socket.end(), Math.random() * 4);
    return undefined;
  };
  const statuses: number[] = [];
  for (let n = 0; n < 60; n += 1) {
    statuses.push((await send(fickle, { retries: 2 })).status);
    await sleep(Math.random() * 4);
  }
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
});

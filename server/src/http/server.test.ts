import { connect } from "node:net";
import { describe, expect, test, afterAll, beforeAll } from "vitest";
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { startServer, until, rawExchange } from "./test-support.ts";

/** An endpoint that responds once it is opened, and records whether it was reached and its signal was aborted. */
function gate() {
  const state = { reached: false, aborted: false, open: () => {} };
  const opened = new Promise<void>((resolve) => (state.open = resolve));
  const endpoints = [
    endpoint({
      id: "gate",
      method: "GET",
      path: "/gate",
      summary: "A demo",
      tags: ["Demo"],
      auth: "none",
      errors: [],
      success: { status: 200, schema: z.string() },
      async handler({ signal }) {
        state.reached = true;
        signal.addEventListener("abort", () => (state.aborted = true));
        await opened;
        return "through";
      },
    }),
  ];
  return { state, endpoints };
}

const settled = (promise: Promise<unknown>) =>
  promise.then(
    () => "answered",
    () => "refused",
  );

describe("close", () => {
  test("lets requests in flight finish and accepts no new ones", async () => {
    const { state, endpoints } = gate();
    const server = await startServer({ endpoints });
    const inFlight = fetch(`${server.url}/gate`);
    await until(() => state.reached);
    const closed = server.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await settled(fetch(`${server.url}/gate`))).toBe("refused");
    state.open();
    const response = await inFlight;
    expect(await response.json()).toBe("through");
    expect(response.headers.get("connection")).toBe("close");
    await closed;
  });

  test("aborts requests that are still in flight after the grace period", async () => {
    const { state, endpoints } = gate();
    const server = await startServer({ endpoints, bounds: { shutdownGraceMs: 50 } });
    const inFlight = settled(fetch(`${server.url}/gate`));
    await until(() => state.reached);
    await server.close();
    expect(await inFlight).toBe("refused");
    await until(() => state.aborted);
  });

  test("does not wait for idle connections, and may be called twice", async () => {
    const { endpoints } = gate();
    const server = await startServer({ endpoints });
    const { hostname, port } = new URL(server.url);
    const idle = connect(Number(port), hostname);
    await new Promise((resolve) => idle.once("connect", resolve));
    const startedMs = performance.now();
    await Promise.all([server.close(), server.close()]);
    await server.close();
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    idle.destroy();
  });
});

const shared = { method: "GET", summary: "A demo", tags: ["Demo"], auth: "none", errors: [] } as const;
const success = { status: 200, schema: z.unknown() } as const;

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer({
    endpoints: [
      endpoint({ ...shared, id: "plain", path: "/plain/", success, handler: () => "there" }),
      endpoint({ ...shared, id: "call", path: "/call/", dialect: "openai", success, handler: () => "there" }),
    ],
    bounds: { requestReadMs: 200 },
  });
});
afterAll(() => server.close());

/** Sends raw bytes; returns the parsed response. */
async function exchange(sent: string): Promise<{ status: number; headers: string; body: unknown }> {
  const answer = await rawExchange(server.url, sent);
  const [head = "", text = ""] = answer.split("\r\n\r\n");
  const [line = "", ...headers] = head.split("\r\n");
  return { status: Number(line.split(" ")[1]), headers: headers.join("\n").toLowerCase(), body: JSON.parse(text) };
}

const close = "connection: close\r\n\r\n";

describe("a request that cannot be read", () => {
  test.each([
    ["HTTP/1.1 without a Host", `GET /plain/ HTTP/1.1\r\n${close}`, 400, /Host/],
    ["a malformed request line", "NOT HTTP AT ALL\r\n\r\n", 400, /not a valid HTTP request/],
    ["a header without a name", `GET /plain/ HTTP/1.1\r\nhost: a\r\n: b\r\n${close}`, 400, /not a valid HTTP request/],
    [
      "two lengths",
      `GET /plain/ HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n${close}`,
      400,
      /HTTP/,
    ],
    [
      "headers that are too large",
      `GET /plain/ HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(70_000)}\r\n${close}`,
      431,
      /large/,
    ],
    ["a head that does not end", "GET /plain/ HTTP/1.1\r\nhost: a\r\n", 408, /in time/],
    ["an expectation", `GET /plain/ HTTP/1.1\r\nhost: a\r\nexpect: miracles\r\n${close}`, 417, /Expect/],
  ])("%s: an error of ours, with a request id", async (_, sent, status, detail) => {
    const answer = await exchange(sent);
    expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(detail), code: expect.any(String) } });
    expect(answer.headers).toMatch(/content-type: application\/json/);
    expect(answer.headers).toMatch(/^x-request-id: [\w-]{36}$/m);
  });

  test("gets an error in the dialect of its route", async () => {
    expect(await exchange(`GET /call/ HTTP/1.1\r\n${close}`)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("Host"), type: "invalid_request_error" } },
    });
  });
});

test("HTTP/1.0 needs no Host, and 100-continue is supported", async () => {
  expect(await exchange("GET /plain/ HTTP/1.0\r\n\r\n")).toMatchObject({ status: 200, body: "there" });
  const expecting = `GET /plain/ HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n${close}`;
  expect(await rawExchange(server.url, expecting)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
});

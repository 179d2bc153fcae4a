import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rpc } from "../support/mcp.ts";
import { storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** `/mcp` over HTTP; `mcp.test.ts` tests the tools. */

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp({
    SPANWAY_PUBLIC_URL: "https://spanway.example",
    SPANWAY_CORS_ORIGINS: "https://friend.example",
  });
  ({ prod } = await app.newOrganization());
  await storeSpans(prod, [{ trace_unique_id: "trace-1", span_unique_id: "root", status: "failed" }]);
});
afterAll(() => app.stop());

describe("the wire", () => {
  const post = (body: unknown, headers?: Record<string, string>) => prod.post("/mcp", body, headers);

  test("is plain JSON, even without an Accept header", async () => {
    const answer = await post(rpc("tools/list"), { accept: "*/*" });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("application/json"),
    ]);
  });

  test.each([
    ["no JSON", "{", 400, -32_700],
    ["nothing", undefined, 400, expect.any(Number)],
    ["no JSON-RPC", { hello: 1 }, 400, expect.any(Number)],
    ["a text", '"tools/list"', 400, expect.any(Number)],
    ["another version", { ...rpc("tools/list"), jsonrpc: "1.0" }, 400, expect.any(Number)],
    ["an invalid id", rpc("tools/list", {}, { a: 1 }), 400, expect.any(Number)],
    ["a batch", [rpc("tools/list"), rpc("tools/list", {}, 2)], 400, -32_000],
    [
      "a deep body",
      rpc("tools/call", {
        name: "search_spans",
        arguments: { filters: JSON.parse(`${"[".repeat(90)}${"]".repeat(90)}`) as Row },
      }),
      400,
      -32_700,
    ],
    [
      "a huge request",
      rpc("tools/call", { name: "search_spans", arguments: { text: "x".repeat(1_100_000) } }),
      413,
      -32_000,
    ],
    ["an id that would come back", rpc("tools/list", {}, "x".repeat(200_000)), 400, -32_000],
    ["an unknown version in the header", rpc("tools/list"), 400, expect.any(Number)],
  ])("refuses %s", async (what, body, status, code) => {
    const answer = await post(body, what.startsWith("an unknown") ? { "mcp-protocol-version": "1999-01-01" } : {});
    expect([answer.status, answer.json]).toEqual([
      status,
      expect.objectContaining({ jsonrpc: "2.0", error: expect.objectContaining({ code }) }),
    ]);
    expect(answer.text.length).toBeLessThan(2_000);
  });

  test.each([
    ["an unknown method", rpc("tools/drop"), -32_601],
    ["resources, of which there are none", rpc("resources/list"), -32_601],
    ["an unknown tool with a long name", rpc("tools/call", { name: "x".repeat(50_000) }), -32_602],
    ["arguments that are no object", rpc("tools/call", { name: "search_spans", arguments: "all" }), -32_602],
    ["a call without a name", rpc("tools/call"), -32_602],
  ])("answers %s with an error", async (_what, body, code) => {
    const answer = await post(body);
    expect(answer.json).toMatchObject({ id: 1, error: { code } });
    expect(answer.text.length).toBeLessThan(2_000);
  });

  test("accepts notifications and responds to none", async () => {
    const answer = await post({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect([answer.status, answer.text]).toEqual([202, ""]);
  });

  test.each(["GET", "DELETE", "PUT"])("%s is 405: there are no sessions and no streams", async (method) => {
    const answer = await prod.request(method, "/mcp", method === "PUT" ? {} : undefined, {
      accept: "text/event-stream",
    });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("a body of another type is 415", async () => {
    expect((await post("<a/>", { "content-type": "application/xml" })).status).toBe(415);
  });

  test.each([
    ["http://evil.example", 403],
    ["https://evil.example:8787", 403],
    ["null", 403],
    ["http://localhost.evil.example", 403],
    ["nonsense", 403],
    ["https://spanway.example:8443", 403],
    ["https://spanway.example", 200],
    ["https://friend.example", 200],
    ["http://localhost:6274", 200],
    ["http://127.0.0.1:3000", 200],
    ["http://[::1]:3000", 200],
  ])("a page of %s is answered %i, whatever the Host header says", async (origin, status) => {
    const host = URL.canParse(origin) ? new URL(origin).host : "localhost";
    const answer = await post(rpc("tools/list"), { origin, "x-forwarded-host": host });
    expect([answer.status, answer.text.includes('"code":"forbidden"')]).toEqual([status, status === 403]);
  });

  test("calls of tools are counted under the route of their operation", async () => {
    for (const page_size of [1, "many"])
      await post(rpc("tools/call", { name: "search_spans", arguments: { page_size } }));
    const { text } = await app.prod.get("/metrics");
    expect(text).toMatch(/http_requests_total\{route="\/api\/request-logs\/list\/",method="inner",status="200"\} \d/);
    expect(text).toMatch(/http_requests_total\{route="\/api\/request-logs\/list\/",method="inner",status="400"\} \d/);
  });
});

describe.each(["claude-code-2.0.14", "claude-code-2.1.332"])("%s, as recorded", (name) => {
  type Recorded = {
    method: string;
    headers: Record<string, string>;
    body?: Row & { id?: unknown; method: string; params?: Row };
  };
  const file = new URL(`../fixtures/mcp/${name}.json`, import.meta.url);
  const { requests } = JSON.parse(readFileSync(file, "utf8")) as { requests: Recorded[] };

  /** The expected result of a request with this body. */
  const expected = ({ method, body }: Recorded): [status: number, id: unknown] =>
    method === "GET" ? [405, null] : body?.id === undefined ? [202, undefined] : [200, body.id];
  const resultOf = ({ json }: Answer): Row => (json as { result: Row }).result;

  test("gets the expected response to each request", async () => {
    const answers: Answer[] = [];
    for (const { method, headers, body } of requests) answers.push(await prod.request(method, "/mcp", body, headers));
    expect(answers.map(({ status, json }) => [status, (json as Row | undefined)?.["id"]])).toEqual(
      requests.map(expected),
    );

    const answersTo = (wanted: string) => answers.filter((_answer, at) => requests[at]?.body?.method === wanted);
    const called = answersTo("tools/call").map((answer) => resultOf(answer)["isError"] ?? false);
    expect(called).toEqual([false, false, false]);
    const [listed] = answersTo("tools/list").map((answer) => resultOf(answer)["tools"]);
    expect(listed).toHaveLength(10);
  });
});

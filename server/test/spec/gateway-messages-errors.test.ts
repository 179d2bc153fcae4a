import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, upstreamKey, type TestGateway } from "../support/gateway.ts";
import { answers, head, streams, type Script } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import { testKeys } from "../support/test-app.ts";
import { createClient, type Answer, type Row, type TestClient } from "../support/test-client.ts";
import {
  anthropicError,
  requestOf,
  block,
  event,
  params,
  reply,
  textEvent,
  start,
  stop,
  stream,
} from "../support/messages.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
});
afterAll(() => gateway.stop());

let client: TestClient;
let key: string;
beforeEach(async () => {
  const organization = await gateway.app.newOrganization();
  client = organization.prod;
  key = organization.keys.prod;
  gateway.upstream.requests.length = 0;
});

const spanOf = (answer: Answer): Promise<Row> => retrieveSpan(client, answer.headers.get("x-spanway-log-id"));
describe("a count of tokens", () => {
  test("passes through, costs nothing, and is recorded without its prompt", async () => {
    gateway.upstream.script(answers(200, '{"input_tokens": 2095 }', { "request-id": "req_3" }));
    const customer = {
      customer_identifier: "c",
      customer_params: { customer_identifier: "c", total_budget: 0.000001 },
    };
    const answer = await client.post("/v1/messages/count_tokens?beta=true", requestOf(), params(customer));
    expect([answer.status, answer.text, answer.headers.get("request-id")]).toEqual([
      200,
      '{"input_tokens": 2095 }',
      "req_3",
    ]);
    expect(gateway.upstream.requests[0]?.path).toBe("/v1/messages/count_tokens?beta=true");
    const span = await spanOf(answer);
    expect(span).toMatchObject({ log_type: "custom", cost: 0, total_tokens: null, customer_identifier: "c" });
    expect(span["span_name"]).toBe("count_tokens claude-sonnet-4-5");
    expect(JSON.stringify(span["output"])).toContain("2095");
    expect(JSON.stringify(span)).not.toContain("Say hello.");
  });

  test("that is invalid is an upstream error", async () => {
    gateway.upstream.script(answers(200, { tokens: 1 }));
    const answer = await client.post("/v1/messages/count_tokens", requestOf(), params({ retries: 0 }));
    expect(answer).toMatchObject({ status: 502, json: anthropicError("api_error", expect.any(String)) });
    expect(await spanOf(answer)).toMatchObject({ status_code: 502, cost: 0 });
  });
});

describe("errors in Anthropic's form", () => {
  const anybody = (): TestClient => createClient(gateway.app.url);

  test.each<[what: string, headers: Record<string, string>]>([
    ["no key", {}],
    ["a key that nobody has", { "x-api-key": "sk-ant-api03-nobody" }],
    ["another scheme", { authorization: "Basic abc" }],
  ])("401 for %s", async (_what, headers) => {
    const answer = await anybody().post("/v1/messages", requestOf(), headers);
    expect(answer).toMatchObject({ status: 401, json: anthropicError("authentication_error", expect.any(String)) });
    expect(answer.headers.get("request-id")).toBe((answer.json as Row)["request_id"]);
  });

  test.each([["x-api-key"], ["authorization"]])("none if the key is sent as %s", async (name) => {
    gateway.upstream.script(answers(200, reply));
    const headers = { [name]: name === "authorization" ? `Bearer ${testKeys.prod}` : testKeys.prod };
    expect((await anybody().post("/v1/messages", requestOf(), headers)).status).toBe(200);
  });

  test.each<[what: string, body: unknown, status: number, type: string, words: RegExp]>([
    ["no JSON", "{", 400, "invalid_request_error", /JSON/],
    ["no model", requestOf({ model: undefined }), 400, "invalid_request_error", /model/],
    ["an invalid limit", requestOf({ max_tokens: 0 }), 400, "invalid_request_error", /max_tokens/],
    ["an invalid stream", requestOf({ stream: "yes" }), 400, "invalid_request_error", /stream/],
  ])("for %s", async (_what, body, status, type, words) => {
    const answer = await client.post("/v1/messages", body);
    expect(answer).toMatchObject({ status, json: anthropicError(type, expect.stringMatching(words)) });
    expect(gateway.upstream.requests).toEqual([]);
    expect(await spanOf(answer)).toMatchObject({ status_code: status, failed: true });
  });

  test.each([
    "gpt-4o",
    "openai/gpt-4o",
    "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "spanway/echo",
    "gemini-2.5-pro",
  ])("for %s, saying what is served", async (model) => {
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      expect(await client.post(path, requestOf({ model }))).toMatchObject({
        status: 400,
        json: anthropicError(
          "invalid_request_error",
          expect.stringMatching(/anthropic alone.*such as (\S+, ){3}\S+ and \d+ more\. /),
        ),
      });
    }
  });

  test("413, 405 and 404", async () => {
    const large = JSON.stringify(requestOf({ messages: [{ role: "user", content: "x".repeat(65 * 1024 * 1024) }] }));
    expect(await client.post("/v1/messages", large)).toMatchObject({
      status: 413,
      json: { error: { type: "request_too_large" } },
    });
    expect(await client.get("/v1/messages")).toMatchObject({ status: 405, json: { type: "error" } });
    const version = { "anthropic-version": "2023-06-01" };
    expect(await client.post("/v1/messages/batches", {}, version)).toMatchObject({
      status: 404,
      json: anthropicError("not_found_error", expect.any(String)),
    });
    expect(await client.post("/v1/messages/batches", {})).toMatchObject({
      status: 404,
      json: { error: { code: "not_found" } },
    });
  });

  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" }, request_id: "req_4" };
  test.each<[status: number, body: unknown]>([
    [
      400,
      {
        type: "error",
        error: { type: "invalid_request_error", message: "max_tokens: too large" },
        request_id: "req_4",
      },
    ],
    [404, { type: "error", error: { type: "not_found_error", message: "model: claude-x" }, request_id: "req_4" }],
    [413, { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } }],
    [429, { type: "error", error: { type: "rate_limit_error", message: "Slow down", new: { a: 1 } } }],
    [500, { type: "error", error: { type: "api_error", message: "Internal server error" } }],
    [529, overloaded],
  ])("%i of the upstream is forwarded unchanged", async (status, body) => {
    const bytes = JSON.stringify(body, null, 1);
    const headers = { "request-id": "req_4", "retry-after": "7", "anthropic-ratelimit-tokens-remaining": "0" };
    gateway.upstream.script(answers(status, bytes, headers));
    for (const isStream of [false, true]) {
      const answer = await client.post("/v1/messages", requestOf({ stream: isStream }), params({ retries: 0 }));
      expect([answer.status, answer.text]).toEqual([status, bytes]);
      expect(Object.fromEntries(answer.headers)).toMatchObject(headers);
      expect(await spanOf(answer)).toMatchObject({ status_code: status, failed: true, cost: 0 });
    }
  });

  test("what the upstream says about the key is hidden from the caller", async () => {
    const words = `invalid x-api-key ${upstreamKey}`;
    for (const [status, type] of [
      [401, "authentication_error"],
      [403, "permission_error"],
    ] as const) {
      gateway.upstream.script(answers(status, { type: "error", error: { type, message: words } }));
      const answer = await client.post("/v1/messages", requestOf(), params({ retries: 0 }));
      expect(answer).toMatchObject({
        status: 502,
        json: anthropicError("api_error", expect.stringMatching(/credential/)),
      });
      expect(answer.headers.get("x-should-retry")).toBe("false");
      expect(answer.text).not.toContain(upstreamKey);
    }
    gateway.upstream.script(answers(400, { type: "error", error: { type: "invalid_request_error", message: words } }));
    const quoted = await client.post("/v1/messages", requestOf(), params({ retries: 0 }));
    expect(quoted).toMatchObject({ status: 400, json: { error: { message: "invalid x-api-key [redacted]" } } });
    expect(JSON.stringify(await spanOf(quoted))).not.toContain(upstreamKey);
  });

  test.each<[what: string, script: Script, status: number]>([
    ["closes the connection", () => "close", 502],
    ["answers with a page", answers(502, "<html>Bad gateway</html>", { "content-type": "text/html" }), 502],
    ["answers with something else", answers(200, { hello: 1 }), 502],
    ["answers with a status that HTTP does not have", answers(600, overloaded), 502],
    ["answers with another of these", answers(999, overloaded), 502],
    ["redirects", answers(302, "", { location: "http://10.0.0.1/" }), 502],
  ])("for an upstream that %s", async (_what, script, status) => {
    gateway.upstream.script(script);
    const answer = await client.post("/v1/messages", requestOf(), params({ retries: 0 }));
    expect(answer).toMatchObject({ status, json: anthropicError("api_error", expect.any(String)) });
    expect(await spanOf(answer)).toMatchObject({ status_code: status });
  });
});

describe("before the first content", () => {
  const overloaded = event("error", { error: { type: "overloaded_error", message: "Overloaded" } });

  test("another model of Anthropic may respond, but no other provider's", async () => {
    gateway.upstream.script((connection, request) => {
      const isFirst = gateway.upstream.requests.length === 1;
      return (isFirst ? streams(start, overloaded) : streams(stream))(connection, request);
    });
    const fallback = params({ retries: 0, fallback_models: ["gpt-4o", "claude-haiku-4-5"] });
    const answer = await client.post("/v1/messages", requestOf({ stream: true }), fallback);
    expect([answer.text, answer.headers.get("x-spanway-model")]).toEqual([stream, "claude-haiku-4-5"]);
    expect(gateway.upstream.requests.map(({ path, body }) => [path, (JSON.parse(body) as Row)["model"]])).toEqual([
      ["/v1/messages", "claude-sonnet-4-5"],
      ["/v1/messages", "claude-haiku-4-5"],
    ]);
  });

  test("an error event becomes a response with its status", async () => {
    gateway.upstream.script(streams(start, overloaded));
    const answer = await client.post("/v1/messages", requestOf({ stream: true }), params({ retries: 0 }));
    expect(answer).toMatchObject({
      status: 529,
      json: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    });
  });
});

describe("after the first content", () => {
  const partial = start + block + textEvent("Hello, is anybody there?");

  test("an error event of the upstream is the last event, unchanged, and the usage is recorded", async () => {
    const failed =
      'event: error\ndata: {"type":"error", "error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    gateway.upstream.script(streams(partial, failed));
    const answer = await client.post(
      "/v1/messages",
      requestOf({ stream: true }),
      params({ fallback_models: ["claude-haiku-4-5"] }),
    );
    expect(answer.text).toBe(partial + failed);
    expect(gateway.upstream.requests).toHaveLength(1);
    expect(await spanOf(answer)).toMatchObject({
      status_code: 529,
      error_message: "Overloaded",
      prompt_tokens: 3_700,
      completion_message: { content: "Hello, is anybody there?" },
      usage_is_estimated: true,
    });
  });

  test("a truncated stream ends in an error event of the gateway", async () => {
    gateway.upstream.script(streams(partial));
    const answer = await client.post("/v1/messages", requestOf({ stream: true }));
    expect(answer.text.startsWith(partial)).toBe(true);
    const last = /^event: error\ndata: (.*)\n\n$/.exec(answer.text.slice(partial.length));
    expect(JSON.parse(last?.[1] ?? "")).toMatchObject(anthropicError("api_error", expect.any(String)));
    expect(await spanOf(answer)).toMatchObject({ status_code: 502, prompt_tokens: 3_700, failed: true });
  });

  test("a call whose caller disconnects is recorded with the partial content", async () => {
    const disconnected = Promise.withResolvers<boolean>();
    gateway.upstream.script(async (connection) => {
      await connection.write(head(200, { "content-type": "text/event-stream" }) + partial);
      disconnected.resolve(await connection.closed(5_000));
      return undefined;
    });
    const leaving = new AbortController();
    const response = await fetch(new URL("/v1/messages", gateway.app.url), {
      method: "POST",
      headers: { "x-api-key": key },
      body: JSON.stringify(requestOf({ stream: true })),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    expect(await disconnected.promise).toBe(true);
    const { results } = await client.waitForSpans(1);
    expect(results).toMatchObject([{ status_code: 499, prompt_tokens: 3_700 }]);
    expect(results[0]?.["completion_tokens"]).toBeGreaterThanOrEqual(500);
  });

  test("each event is passed on when it arrives", async () => {
    const isRead = Promise.withResolvers<void>();
    gateway.upstream.script(async (connection) => {
      await connection.write(head(200, { "content-type": "text/event-stream" }) + start + block + textEvent("1"));
      await isRead.promise;
      await connection.write(stop);
      return "close";
    });
    const response = await fetch(new URL("/v1/messages", gateway.app.url), {
      method: "POST",
      headers: { "x-api-key": key },
      body: JSON.stringify(requestOf({ stream: true })),
    });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('"1"');
    isRead.resolve();
    await reader?.cancel();
  });
});

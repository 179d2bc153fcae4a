import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, upstreamKey, type TestGateway } from "../support/gateway.ts";
import { answers, head, streams } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import { createClient, type Answer, type Row, type TestClient } from "../support/test-client.ts";
import {
  anthropicError,
  requestOf,
  block,
  costUsd,
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
  gateway = await startTestGateway({
    SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
    SPANWAY_CORS_ORIGINS: "https://app.example.com",
  });
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
describe("a message is relayed", () => {
  test("byte for byte, with the headers and the query of the API", async () => {
    const body = `{ "model":"claude-sonnet-4-5" ,"max_tokens":1e2,\n "messages":[{"role":"user","content":"\\u0041 — é"}],"unknown":{"a":1.0,"b":12345678901234567890},"customer_identifier":"none of ours"}`;
    const bytes = `{"id":"msg_1", "type":"message","role":"assistant","content":[{"type":"text","text":"\\u00e9"}],"new":1.0,"usage":{"input_tokens":3,"output_tokens":1}}`;
    gateway.upstream.script(
      answers(200, bytes, {
        "request-id": "req_011",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-organization-id": "org-of-the-key",
        "set-cookie": "a=b",
        server: "cloudflare",
        "cf-ray": "1",
      }),
    );
    const answer = await createClient(gateway.app.url).post("/v1/messages?beta=true&x=%2F", body, {
      "x-api-key": key,
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "context-1m-2025-08-07,future-2030-01-01",
      "x-stainless-lang": "js",
      cookie: "secret=1",
      "x-forwarded-for": "10.0.0.1",
    });
    const [seen] = gateway.upstream.requests;
    expect([seen?.path, seen?.body]).toEqual(["/v1/messages?beta=true&x=%2F", body]);
    expect(seen?.headers).toMatchObject({
      "x-api-key": upstreamKey,
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "context-1m-2025-08-07,future-2030-01-01",
      "content-type": "application/json",
    });
    for (const name of ["authorization", "cookie", "x-forwarded-for", "x-stainless-lang"]) {
      expect(seen?.headers).not.toHaveProperty(name);
    }
    expect([answer.status, answer.text]).toEqual([200, bytes]);
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({ "request-id": "req_011", "anthropic-ratelimit-requests-remaining": "49" });
    expect(headers).toMatchObject({ "x-spanway-provider": "anthropic", "x-spanway-attempts": "1" });
    for (const name of ["anthropic-organization-id", "set-cookie", "server", "cf-ray"]) {
      expect(headers).not.toHaveProperty(name);
    }
    expect(await spanOf(answer)).toMatchObject({ customer_identifier: null, prompt_tokens: 3, status_code: 200 });
  });

  test.each([
    ["whole", [stream]],
    ["a byte at a time", [...Buffer.from(stream)].map((byte) => Buffer.from([byte]))],
    [
      "with pings and comments",
      [start, event("ping"), ": hm\n\n", block, textEvent("Hel"), ": a\n\n", textEvent("lo."), stop],
    ],
    ["with other ends of lines", [(start + block).replaceAll("\n", "\r\n"), textEvent("Hello."), stop]],
    [
      "with events that nobody knows",
      [start + block + textEvent("Hello."), event("content_block_new", { x: 1 }), stop],
    ],
  ])("as a stream that arrives %s", async (_how, writes) => {
    gateway.upstream.script(async (connection) => {
      await connection.write(head(200, { "content-type": "text/event-stream", "request-id": "req_2" }));
      for (const bytes of writes) await connection.write(bytes);
      return "close";
    });
    const answer = await client.post("/v1/messages", requestOf({ stream: true }));
    expect(answer.text).toBe(Buffer.concat(writes.map((bytes) => Buffer.from(bytes))).toString("utf8"));
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(answer.headers.get("request-id")).toBe("req_2");
    expect(await spanOf(answer)).toMatchObject({
      stream: true,
      status_code: 200,
      completion_message: { role: "assistant", content: "Hello." },
      completion_tokens: 500,
      usage_is_estimated: null,
    });
  });

  test("to a web page that may call, with all gateway headers readable", async () => {
    for (const isStream of [false, true]) {
      gateway.upstream.script(isStream ? streams(stream) : answers(200, reply));
      const answer = await client.post("/v1/messages", requestOf({ stream: isStream }), {
        origin: "https://app.example.com",
      });
      expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
      const exposed = answer.headers.get("access-control-expose-headers")?.split(", ") ?? [];
      const ours = [...answer.headers.keys()].filter((name) => /^x-(?!content-type|accel)/.test(name));
      expect(ours.filter((name) => !exposed.includes(name))).toEqual([]);
      expect(ours).toContain("x-spanway-log-id");
    }
  });

  test.each([
    "/messages",
    "/api/messages",
    "/api/v1/messages",
    "/anthropic/v1/messages",
    "/api/anthropic/v1/messages",
    "/v1/messages/",
  ])("on %s", async (path) => {
    gateway.upstream.script(answers(200, reply));
    expect((await client.post(path, requestOf())).status).toBe(200);
    gateway.upstream.script(answers(200, { input_tokens: 7 }));
    const counted = await client.post(`${path.replace(/\/$/, "")}/count_tokens`, requestOf());
    expect(counted.json).toEqual({ input_tokens: 7 });
    expect(gateway.upstream.requests.map((seen) => seen.path)).toEqual(["/v1/messages", "/v1/messages/count_tokens"]);
  });

  test("under a name with a provider, and under one that is not in the catalogue", async () => {
    gateway.upstream.script(answers(200, reply));
    for (const model of ["anthropic/claude-sonnet-4-5", "claude-of-tomorrow-9", "my-finetune"]) {
      expect((await client.post("/v1/messages", requestOf({ model }))).status).toBe(200);
      const sent = JSON.parse(gateway.upstream.requests.at(-1)?.body ?? "") as Row;
      expect(sent).toEqual(requestOf({ model: model.replace("anthropic/", "") }));
    }
  });

  test("with a stored key and its own base URL", async () => {
    const stored = {
      provider: "anthropic",
      api_key: "sk-ant-stored-0123456789",
      base_url: `${gateway.upstream.url}/own/v1`,
    };
    expect((await client.post("/api/providers/", stored)).status).toBe(201);
    gateway.upstream.script(answers(200, reply));
    await client.post("/v1/messages", requestOf());
    const [seen] = gateway.upstream.requests;
    expect([seen?.path, seen?.headers["x-api-key"]]).toEqual(["/own/v1/messages", "sk-ant-stored-0123456789"]);
  });
});

describe("a message is recorded", () => {
  test("as a chat is, with a receipt for every bucket", async () => {
    gateway.upstream.script(answers(200, reply));
    const answer = await client.post(
      "/v1/messages",
      requestOf({
        model: "claude-sonnet-4-6",
        system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral", ttl: "1h" } }],
        messages: [
          { role: "user", content: [{ type: "text", text: "Look up." }] },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "Up?", signature: "c2ln" },
              { type: "tool_use", id: "toolu_0", name: "look", input: { at: "up" } },
            ],
          },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "toolu_0", content: [{ type: "text", text: "Blue." }] },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
              { type: "text", text: "And now?" },
            ],
          },
        ],
        tools: [{ name: "look", description: "Looks.", input_schema: { type: "object", properties: {} } }],
        tool_choice: { type: "any" },
        stop_sequences: ["END"],
        temperature: 0.5,
      }),
      params({ customer_identifier: "acme", thread_identifier: "t-1", metadata: { a: 1 } }),
    );
    const span = await spanOf(answer);
    expect(span).toMatchObject({
      log_type: "chat",
      log_method: "gateway",
      model: "claude-sonnet-4-6",
      response_id: "msg_1",
      customer_identifier: "acme",
      thread_identifier: "t-1",
      metadata: { a: 1 },
      max_tokens: 100,
      temperature: 0.5,
      prompt_messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Look up." },
        {
          role: "assistant",
          reasoning_content: "Up?",
          tool_calls: [{ id: "toolu_0", type: "function", function: { name: "look", arguments: '{"at":"up"}' } }],
        },
        { role: "tool", tool_call_id: "toolu_0", content: "Blue." },
        { role: "user", content: [{ type: "image_url" }, { type: "text", text: "And now?" }] },
      ],
      tools: [{ type: "function", function: { name: "look", description: "Looks." } }],
      tool_choice: "required",
      completion_message: {
        role: "assistant",
        content: "Hello.",
        reasoning_content: "Let me see.",
        tool_calls: [{ id: "toolu_1", type: "function", function: { name: "look", arguments: '{"at":"sky"}' } }],
      },
      prompt_tokens: 3_700,
      completion_tokens: 500,
      prompt_cache_hit_tokens: 2_000,
      prompt_cache_creation_tokens: 700,
    });
    expect(span["cost"]).toBeCloseTo(costUsd, 9);
    const lines = (span["cost_details"] as Row)["lines"] as Row[];
    expect(Object.fromEntries(lines.map(({ bucket, tokens, units }) => [bucket, tokens ?? units]))).toEqual({
      input: 1_000,
      cache_read: 2_000,
      cache_write_5m: 300,
      cache_write_1h: 400,
      output: 500,
      web_search: 2,
    });
  });

  test("the same if it was streamed, and without content on request", async () => {
    gateway.upstream.script(streams(stream));
    const streamed = await spanOf(
      await client.post("/v1/messages", requestOf({ model: "claude-sonnet-4-6", stream: true })),
    );
    expect(streamed["cost"]).toBeCloseTo(costUsd, 9);
    expect(streamed).toMatchObject({
      response_id: "msg_1",
      prompt_messages: [{ role: "user", content: "Say hello." }],
    });
    gateway.upstream.script(answers(200, reply));
    const silent = await spanOf(await client.post("/v1/messages", requestOf(), params({ disable_log: true })));
    expect(silent).toMatchObject({ prompt_tokens: 3_700, prompt_messages: null, completion_message: null });
  });

  test("below the caller's span if it names one", async () => {
    gateway.upstream.script(answers(200, reply));
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    expect(await spanOf(await client.post("/v1/messages", requestOf(), { traceparent }))).toMatchObject({
      trace_unique_id: "4bf92f3577b34da6a3ce929d0e0e4736",
      span_parent_id: "00f067aa0ba902b7",
    });
  });

  const device = "19f2f4ee153d47fb2ef3e7954239ff16d3bff6daddd7cac0b1e7e3794fcaae80";
  const claudeCode = (members: Row): string => JSON.stringify(members);
  test.each<[userId: unknown, customer: unknown, session: unknown]>([
    ["user-7", "user-7", null],
    [`user_${device}_account__session_s-1`, device, "s-1"],
    [`user_${device}_account_a929b7ef-d758_session_s-1`, "a929b7ef-d758", "s-1"],
    [claudeCode({ device_id: device, account_uuid: "", session_id: "s-2" }), device, "s-2"],
    [claudeCode({ device_id: device, account_uuid: "acc", session_id: "s-2" }), "acc", "s-2"],
    [claudeCode({ device_id: device }), device, null],
    ["user_abc_account_session", "user_abc_account_session", null],
    ["{not json", "{not json", null],
    [claudeCode({ other: 1 }), claudeCode({ other: 1 }), null],
    ["x".repeat(300), null, null],
    [7, null, null],
    ["", null, null],
  ])("for the customer that metadata.user_id names: %s", async (user_id, customer_identifier, session) => {
    gateway.upstream.script(answers(200, reply));
    const answer = await client.post("/v1/messages", requestOf({ metadata: { user_id } }));
    expect(await spanOf(answer)).toMatchObject({
      customer_identifier,
      session_identifier: session,
      thread_identifier: session,
    });
    const named = await client.post(
      "/v1/messages",
      requestOf({ metadata: { user_id } }),
      params({ customer_identifier: "b" }),
    );
    expect(await spanOf(named)).toMatchObject({ customer_identifier: "b" });
  });

  test("within the customer's budget and rate", async () => {
    const broke = { customer_identifier: "broke", customer_params: { customer_identifier: "broke", total_budget: 0 } };
    const refused = await client.post("/v1/messages", requestOf(), params(broke));
    expect(refused).toMatchObject({ status: 429, json: anthropicError("rate_limit_error", expect.any(String)) });
    expect(refused.headers.get("x-should-retry")).toBe("false");
    expect(gateway.upstream.requests).toHaveLength(0);
    expect(await spanOf(refused)).toMatchObject({
      status_code: 429,
      cost: 0,
      limit_info: { is_allowed: false, reason: "total_budget" },
      prompt_messages: [{ role: "user", content: "Say hello." }],
    });
    gateway.upstream.script(answers(200, reply));
    const rate = { customer_identifier: "often", customer_params: { customer_identifier: "often", rate_limit: 1 } };
    expect((await client.post("/v1/messages", requestOf(), params(rate))).status).toBe(200);
    const often = await client.post("/v1/messages", requestOf(), params(rate));
    expect(often).toMatchObject({ status: 429, json: { error: { type: "rate_limit_error" } } });
    expect(often.headers.get("retry-after")).toMatch(/^\d+$/);
  });

  test("a picture in a tool result reserves no more budget than a picture, and is stored as one", async () => {
    gateway.upstream.script(answers(200, reply));
    const source = { type: "base64", media_type: "image/png", data: "A".repeat(2_000_000) };
    const content = [{ type: "tool_result", tool_use_id: "t", content: [{ type: "image", source }] }];
    const customer = { customer_identifier: "c", customer_params: { customer_identifier: "c", total_budget: 0.5 } };
    const request = requestOf({ messages: [{ role: "user", content }] });
    const answer = await client.post("/v1/messages", request, params(customer));
    expect(answer.status).toBe(200);
    expect(await spanOf(answer)).toMatchObject({
      prompt_messages: [
        {
          role: "tool",
          tool_call_id: "t",
          content: [{ type: "image_url", image_url: { url: expect.stringContaining("/api/media/") } }],
        },
      ],
    });
  });
});

test("Claude Code's own request is passed on unchanged, and is recorded correctly", async () => {
  const { path, headers, body } = JSON.parse(
    readFileSync(new URL("../fixtures/claude-code-request.json", import.meta.url), "utf8"),
  ) as { path: string; headers: Record<string, string>; body: Row };
  const bytes = JSON.stringify(body);
  gateway.upstream.script(streams(stream));
  const answer = await createClient(gateway.app.url).post(path, bytes, { ...headers, authorization: `Bearer ${key}` });
  expect([answer.status, answer.text]).toEqual([200, stream]);
  const [seen] = gateway.upstream.requests;
  expect([seen?.path, seen?.body]).toEqual([path, bytes]);
  expect(seen?.headers["anthropic-beta"]).toBe(headers["anthropic-beta"]);
  const session = "34832e57-9b65-4df6-9604-60b9fc786bcb";
  expect(await spanOf(answer)).toMatchObject({
    log_type: "chat",
    model: "claude-sonnet-4-5-20250929",
    customer_identifier: "19f2f4ee153d47fb2ef3e7954239ff16d3bff6daddd7cac0b1e7e3794fcaae80",
    session_identifier: session,
    thread_identifier: session,
    prompt_messages: [
      { role: "system" },
      { role: "user" },
      {
        role: "assistant",
        content: "I'll look.",
        reasoning_content: "I should read it.",
        tool_calls: [{ id: "toolu_01A" }],
      },
      { role: "tool", tool_call_id: "toolu_01A", content: "     1\u2192# Example\n" },
    ],
    tools: [{ type: "function", function: { name: "Read" } }],
    completion_message: { content: "Hello." },
    prompt_tokens: 3_700,
  });
});

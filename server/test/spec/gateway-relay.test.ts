import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, streamHead, streams } from "../support/scripted-upstream.ts";
import { testKeys } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

let client: TestClient;
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
  gateway.upstream.requests.length = 0;
});

/** Waits for the span of a call. */
async function span(answer: Answer): Promise<Row> {
  for (let tries = 0; ; tries += 1) {
    const { status, json } = await client.get(`/api/request-logs/${answer.headers.get("x-spanway-log-id")}/`);
    if (status === 200 || tries > 50) return json as Row;
    await sleep(20);
  }
}

const sent = (): Row => JSON.parse(gateway.upstream.requests.at(-1)?.body ?? "") as Row;

describe("embeddings", () => {
  const reply = {
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: [0.1, 0.2] }],
    model: "text-embedding-3-small",
    usage: { prompt_tokens: 1_000, total_tokens: 1_000 },
  };
  const requestOf = (members: Row = {}): Row => ({ model: "text-embedding-3-small", input: ["a", "b"], ...members });

  test.each(["/api/embeddings", "/api/embeddings/", "/v1/embeddings", "/embeddings"])(
    "are relayed on %s",
    async (path) => {
      gateway.upstream.script(answers(200, reply));
      const answer = await client.post(
        path,
        requestOf({ dimensions: 2, customer_identifier: "c", metadata: { a: 1 } }),
      );
      expect([answer.status, answer.text]).toEqual([200, JSON.stringify(reply)]);
      expect(gateway.upstream.requests[0]?.path).toBe("/v1/embeddings");
      expect(sent()).toEqual(requestOf({ dimensions: 2 }));
    },
  );

  test.each<[asked: string | undefined, sent: unknown, told: unknown]>([
    ["base64", [1, -2.5], "AACAPwAAIMA="],
    ["float", "AACAPwAAIMA=", [1, -2.5]],
    [undefined, "AACAPwAAIMA=", [1, -2.5]],
    ["base64", "AACAPwAAIMA=", "AACAPwAAIMA="],
  ])("P7: requested as %j and returned as %j are converted, and counted alike", async (format, vector, expected) => {
    const item = { object: "embedding", index: 0, embedding: vector };
    gateway.upstream.script(answers(200, { ...reply, data: [item, { ...item, index: 1 }] }));
    const answer = await client.post("/v1/embeddings", requestOf({ encoding_format: format, request_breakdown: true }));
    const item2 = { ...item, embedding: expected };
    expect(answer.json).toMatchObject({ ...reply, data: [item2, { ...item2, index: 1 }] });
    expect((answer.json as Row)["request_breakdown"]).toMatchObject({ prompt_tokens: 1_000, cost: 0.00002 });
    expect(sent()["encoding_format"]).toBe(format);
    expect(await span(answer)).toMatchObject({ prompt_tokens: 1_000, cost: 0.00002 });
  });

  test("P7: that are neither numbers nor their base64 fall back to another model", async () => {
    let calls = 0;
    gateway.upstream.script((...args) => {
      calls += 1;
      const embedding = calls === 1 ? "AACA" : [1];
      return answers(200, { ...reply, data: [{ object: "embedding", index: 0, embedding }] })(...args);
    });
    const answer = await client.post(
      "/v1/embeddings",
      requestOf({ retries: 0, fallback_models: ["text-embedding-3-large"] }),
    );
    expect([answer.status, answer.headers.get("x-spanway-model")]).toEqual([200, "text-embedding-3-large"]);
  });

  test("are recorded without their vectors, with tokens and cost", async () => {
    gateway.upstream.script(answers(200, reply));
    const answer = await client.post("/api/embeddings", requestOf({ request_breakdown: true }));
    expect((answer.json as Row)["request_breakdown"]).toMatchObject({ prompt_tokens: 1_000, cost: 0.00002 });
    const recorded = await span(answer);
    expect(recorded).toMatchObject({
      log_type: "embedding",
      model: "text-embedding-3-small",
      prompt_tokens: 1_000,
      cost: 0.00002,
      status_code: 200,
    });
    expect(JSON.stringify(recorded["input"])).toContain("a");
    expect(JSON.stringify(recorded)).not.toContain("0.1,0.2");
    const silent = await span(
      await client.post("/api/embeddings", requestOf({ input: "secret words", disable_log: true })),
    );
    expect(JSON.stringify(silent)).not.toContain("secret words");
  });

  test("fall back, and name what is missing", async () => {
    gateway.upstream.script((connection, request) => {
      const isFirst = (JSON.parse(request.body) as Row)["model"] === "text-embedding-3-small";
      return (isFirst ? answers(500, {}) : answers(200, reply))(connection, request);
    });
    const answer = await client.post(
      "/api/embeddings",
      requestOf({ retries: 0, fallback_models: ["text-embedding-3-large"] }),
    );
    expect([answer.status, answer.headers.get("x-spanway-model")]).toEqual([200, "text-embedding-3-large"]);
    for (const [param, members] of [
      ["input", { input: "" }],
      ["model", { model: "" }],
    ] as const) {
      const refused = await client.post("/api/embeddings", requestOf(members));
      expect([refused.status, (refused.json as { error: Row }).error["param"]]).toEqual([400, param]);
    }
    for (const model of ["anthropic/claude-opus-4-5", "claude-opus-4-5"]) {
      for (const route of ["/api/embeddings", "/api/responses"]) {
        expect(await client.post(route, requestOf({ model }))).toMatchObject({
          status: 400,
          json: { error: { param: "model", message: expect.stringMatching(/of anthropic only chat completions/) } },
        });
      }
    }
    expect((await client.post("/api/embeddings", requestOf({ model: "spanway/echo" }))).status).toBe(400);
  });
});

describe("responses", () => {
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 40 },
    output_tokens: 10,
    total_tokens: 110,
  };
  const output = [
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello." }] },
    { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
  ];
  const response = { id: "resp_1", object: "response", status: "completed", output, usage };
  const requestOf = (members: Row = {}): Row => ({ model: "gpt-4o", input: "Say hello.", ...members });
  const event = (type: string, members: Row = {}): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const created = event("response.created", { response: { id: "resp_1" } });
  const delta = event("response.output_text.delta", { delta: "Hello." });
  const completed = event("response.completed", { response });

  test("are relayed, and recorded with their content", async () => {
    gateway.upstream.script(answers(200, response));
    const answer = await client.post(
      "/api/responses",
      requestOf({ instructions: "Be kind.", svc_params: { thread_identifier: "t" } }),
    );
    expect([answer.status, answer.text]).toEqual([200, JSON.stringify(response)]);
    expect(sent()).toEqual(requestOf({ instructions: "Be kind." }));
    expect(await span(answer)).toMatchObject({
      log_type: "response",
      thread_identifier: "t",
      prompt_tokens: 100,
      completion_tokens: 10,
      prompt_cache_hit_tokens: 40,
      completion_message: { role: "assistant", content: "Hello.", tool_calls: [{ id: "call_1" }] },
    });
  });

  test("cost what their tier and their searches cost", async () => {
    const searched = (action: object) => ({ type: "web_search_call", status: "completed", action });
    const found = [searched({ type: "search", query: "a" }), searched({ type: "open_page", url: "https://a.example" })];
    const costly = { ...response, output: [...found, ...output], service_tier: "flex" };
    gateway.upstream.script(answers(200, costly));
    const whole = await span(await client.post("/api/responses", requestOf()));
    gateway.upstream.script(streams(created, delta, event("response.completed", { response: costly })));
    const streamed = await span(await client.post("/api/responses", requestOf({ stream: true })));
    const tokensUsd = (60 * 2.5 + 40 * 1.25 + 10 * 10) / 1e6;
    for (const { cost } of [whole, streamed]) expect(cost).toBeCloseTo(tokensUsd / 2 + 0.01, 12);
  });

  test("in the background are streamed, because they could not be fetched here", async () => {
    const refused = await client.post("/api/responses", requestOf({ background: true }));
    expect(refused).toMatchObject({ status: 400, json: { error: { param: "background" } } });
    expect(gateway.upstream.requests).toEqual([]);
    gateway.upstream.script(streams(created, delta, completed));
    expect((await client.post("/api/responses", requestOf({ background: true, stream: true }))).status).toBe(200);
    expect(sent()).toEqual(requestOf({ background: true, stream: true }));
  });

  test("stream byte for byte, and are recorded from the last event", async () => {
    gateway.upstream.script(streams(created, delta.slice(0, 20), delta.slice(20), completed));
    const answer = await client.post("/api/responses", requestOf({ stream: true }));
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(answer.text).toBe(created + delta + completed);
    expect(await span(answer)).toMatchObject({
      log_type: "response",
      stream: true,
      prompt_tokens: 100,
      status_code: 200,
    });
    gateway.upstream.script(streams(created, delta, completed));
    const streamed = await client.post("/api/responses", requestOf({ stream: true, request_breakdown: true }));
    const last = streamed.text.slice((created + delta + completed).length);
    expect(JSON.parse(last.slice("data: ".length))).toMatchObject({ request_breakdown: { prompt_tokens: 100 } });
  });

  test("that fail before any content fall back, afterwards end in an error", async () => {
    const failed = event("response.failed", { response: { error: { code: "server_error", message: "Told so" } } });
    gateway.upstream.script((connection, request) => {
      const isFirst = gateway.upstream.requests.length === 1;
      return (isFirst ? streams(created, failed) : streams(created, delta, completed))(connection, request);
    });
    const saved = await client.post(
      "/api/responses",
      requestOf({ stream: true, retries: 0, fallback_models: ["gpt-4o-mini"] }),
    );
    expect([saved.text, saved.headers.get("x-spanway-attempts")]).toEqual([created + delta + completed, "2"]);
    for (const end of [failed, ""]) {
      gateway.upstream.script(streams(created, delta, end));
      const broken = await client.post("/api/responses", requestOf({ stream: true, fallback_models: ["gpt-4o-mini"] }));
      expect(broken.text.startsWith(created + delta)).toBe(true);
      const error = JSON.parse(broken.text.slice((created + delta).length + "data: ".length)) as Row;
      expect(error).toMatchObject({ error: { type: "upstream_error" } });
      expect(await span(broken)).toMatchObject({
        status_code: 424,
        completion_message: { role: "assistant", content: "Hello." },
        completion_tokens: expect.any(Number),
        usage_is_estimated: true,
      });
    }
    gateway.upstream.script(streams(created, failed));
    expect((await client.post("/api/responses", requestOf({ stream: true, retries: 0 }))).status).toBe(424);
  });

  test("that fail are charged if their usage is stated, whole or streamed", async () => {
    const error = { code: "server_error", message: "Told so" };
    const failure = { id: "resp_1", status: "failed", error, usage, service_tier: "flex" };
    const costUsd = (60 * 2.5 + 40 * 1.25 + 10 * 10) / 1e6 / 2;
    const failed = event("response.failed", { response: failure });
    for (const script of [answers(200, failure), streams(created, failed), streams(created, delta, failed)]) {
      gateway.upstream.script(script);
      const stream = gateway.upstream.requests.length > 0;
      expect(await span(await client.post("/api/responses", requestOf({ stream, retries: 0 })))).toMatchObject({
        status_code: 424,
        prompt_tokens: 100,
        completion_tokens: 10,
        cost: expect.closeTo(costUsd, 12),
        usage_is_estimated: null,
      });
    }
  });
});

describe("customers of these operations", () => {
  test.each([
    ["embedding", "/api/embeddings", { model: "text-embedding-3-small", input: "a" }],
    ["response", "/api/responses", { model: "gpt-4o", input: "a" }],
    ["response", "/api/responses", { model: "gpt-4o", input: "a", stream: true }],
  ])(
    "are refused beyond their budget, with a log and without a provider call: %s on %s",
    async (log_type, path, body) => {
      const broke = {
        customer_identifier: "broke",
        customer_params: { customer_identifier: "broke", total_budget: 0 },
      };
      const refused = await client.post(path, { ...body, ...broke });
      expect(refused).toMatchObject({
        status: 429,
        json: { error: { type: "budget_exceeded", code: "budget_exceeded" } },
      });
      expect(refused.headers.get("x-should-retry")).toBe("false");
      expect(gateway.upstream.requests).toHaveLength(0);
      expect(await span(refused)).toMatchObject({
        log_type,
        status_code: 429,
        customer_identifier: "broke",
        cost: 0,
        limit_info: { is_allowed: false, reason: "total_budget" },
      });
    },
  );

  test("are charged the cost of the call, and limited by rate", async () => {
    const usage = { prompt_tokens: 1_000_000, total_tokens: 1_000_000 };
    gateway.upstream.script(answers(200, { object: "list", data: [], model: "m", usage }));
    const embed = (customer_params: Row, input = "a") =>
      client.post("/api/embeddings", { model: "text-embedding-3-small", input, customer_params });
    const payer = { customer_identifier: "payer", total_budget: 0.02 };
    expect((await embed(payer)).status).toBe(200);
    const refused = await embed(payer, "b".repeat(400_000));
    expect(refused).toMatchObject({ status: 429, json: { error: { type: "budget_exceeded" } } });
    const hasty = { customer_identifier: "hasty", rate_limit: 1 };
    expect((await embed(hasty)).status).toBe(200);
    expect(await embed(hasty)).toMatchObject({ status: 429, json: { error: { code: "rate_limited" } } });
  });
});

test("a stream of a response pauses while its caller reads slowly", async () => {
  const piece = `event: response.output_text.delta\ndata: ${JSON.stringify({ type: "response.output_text.delta", delta: "x".repeat(64 * 1024) })}\n\n`;
  const pieces = 800;
  let written = 0;
  gateway.upstream.script(async (connection) => {
    await connection.write(streamHead);
    for (; written < pieces && !connection.socket.destroyed; written += 1) await connection.write(piece);
    return "close";
  });
  const sentOff = httpRequest(new URL("/v1/responses", gateway.app.url), {
    method: "POST",
    headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": "application/json" },
    agent: false,
  });
  sentOff.end(JSON.stringify({ model: "gpt-4o", input: "a", stream: true }));
  const [answer] = (await once(sentOff, "response")) as [IncomingMessage];
  answer.pause();
  await expect
    .poll(
      async () => {
        const before = written;
        await sleep(150);
        return written - before;
      },
      { timeout: 10_000, interval: 10 },
    )
    .toBe(0);
  expect(written).toBeLessThan(pieces / 2);
  sentOff.destroy();
});

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chunk, completion, done, eventsOf, helloStream, question, textOf, usageChunk } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, streams, type Script } from "../support/scripted-upstream.ts";
import { listSpans, retrieveSpan } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.script(answers(200, completion())));

const path = "/api/chat/completions";
let requests = 0;
/** A chat that was never sent before. */
const newChat = (members: Row = {}): Row => {
  requests += 1;
  const messages = [{ role: "user", content: `Question ${requests}` }];
  return { model: "gpt-4o", messages, cache_enabled: true, ...members };
};
const send = (body: Row | string, client: TestClient = gateway.app.prod): Promise<Answer> => client.post(path, body);
const cacheOf = (answer: Answer): string | null => answer.headers.get("x-spanway-cache");
const spanOf = (answer: Answer): Promise<Row> => retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id"));

/** The cache header of the second of two calls. */
async function second(first: Row | string, then: Row | string, client?: TestClient): Promise<string | null> {
  expect(cacheOf(await send(first))).toBe("miss");
  return cacheOf(await send(then, client));
}

const toolCalls = ["a", "b"].map((name, index) => ({
  id: `call_${index}`,
  type: "function",
  function: { name, arguments: `{"x":${index}}` },
}));
const withTools = completion({
  choices: [
    { index: 0, message: { role: "assistant", content: null, tool_calls: toolCalls }, finish_reason: "tool_calls" },
  ],
});

describe("The response cache", () => {
  test("is off unless the call enables it", async () => {
    const body = newChat({ cache_enabled: false });
    expect(await second(body, { ...body, cache_enabled: undefined })).toBe("miss");
    expect(await second({ ...body, cache_enabled: true }, body)).toBe("miss");
  });

  test("returns the same bytes again without a provider, free of charge, in a span that states it", async () => {
    const text = JSON.stringify(completion(), null, 1);
    gateway.upstream.script(answers(200, text));
    const body = newChat();
    const first = await send(body);
    const requests = gateway.upstream.requests.length;
    const again = await send(body);
    expect([again.status, again.text, cacheOf(again)]).toEqual([200, text, "hit"]);
    expect(gateway.upstream.requests.length).toBe(requests);
    expect(again.headers.get("x-spanway-model")).toBe("gpt-4o");
    expect(again.headers.get("x-spanway-provider")).toBe("openai");
    expect(again.headers.get("x-spanway-attempts")).toBe("0");
    const [missed, hit] = [await spanOf(first), await spanOf(again)];
    expect(hit).toMatchObject({ cache_hit: true, cost: 0, model: "gpt-4o", prompt_tokens: 10, status_code: 200 });
    expect(hit["completion_message"]).toEqual({ role: "assistant", content: "Hello." });
    expect(hit["unique_id"]).not.toBe(missed["unique_id"]);
    expect(missed["cache_hit"]).not.toBe(true);
    expect(hit["cache_key"]).toMatch(/^[\w-]{43}$/);
    expect(missed["cache_key"]).toBe(hit["cache_key"]);
  });

  test("is reported in the breakdown", async () => {
    const body = newChat({ request_breakdown: true });
    const breakdownOf = (answer: Answer): Row => (answer.json as { request_breakdown: Row }).request_breakdown;
    expect(breakdownOf(await send(body))).toMatchObject({ cached: false });
    const again = await send(body);
    expect(breakdownOf(again)).toMatchObject({ cached: true, cost: 0, prompt_tokens: 10, completion_tokens: 2 });
    expect(again.json).toMatchObject(completion());
  });

  test("treats calls as equal regardless of member order, whitespace and escapes", async () => {
    requests += 1;
    const first = `{"model":"gpt-4o","cache_enabled":true,"messages":[{"role":"user","content":"é ${requests}"}],"top_p":1,"seed":12345678901234567890}`;
    const same = `{ "seed": 12345678901234567890, "top_p": 1.0,\n "messages": [ {"content":"\\u00e9 ${requests}", "role":"user"} ], "cache_enabled": true, "model": "openai/gpt-4o" }`;
    expect(await second(first, same)).toBe("hit");
    expect(await second(first.replace("é", "e"), first.replace("é", "e").replace("67890}", "67891}"))).toBe("miss");
  });

  test.each<[string, Row]>([
    ["messages", { messages: [question, { role: "assistant", content: "Yes?" }, question] }],
    ["model", { model: "gpt-4o-mini" }],
    ["response_format", { response_format: { type: "json_object" } }],
    ["tools", { tools: [{ type: "function", function: { name: "f", parameters: {} } }] }],
    ["tool_choice", { tool_choice: "none" }],
    ["stop", { stop: ["x"] }],
    ["temperature", { temperature: 0 }],
    ["n", { n: 1 }],
    ["seed", { seed: 1 }],
    ["reasoning_effort", { reasoning_effort: "low" }],
    ["logprobs", { logprobs: true }],
    ["user", { user: "u" }],
    ["a parameter that nobody knows", { some_new_parameter: [1] }],
    ["the credential", { credential_override: { openai: { api_key: "sk-another" } } }],
    ["the customer's credential", { customer_credentials: { openai: { api_key: "sk-customer" } } }],
    ["the customer, where each has its own", { customer_identifier: "c2" }],
  ])("gives nothing to a call that differs in %s", async (_name, members) => {
    const body = newChat({ cache_options: { cache_by_customer: true } });
    expect(await second(body, { ...body, ...members })).toBe("miss");
    expect(cacheOf(await send(body))).toBe("hit");
  });

  test.each<[string, Row]>([
    ["the customer", { customer_identifier: "c3" }],
    ["metadata", { metadata: { a: "b" }, span_name: "s" }],
    ["the options of delivery", { stream_options: undefined, request_breakdown: true }],
    ["retries and fallbacks", { retries: 1, fallback_models: ["gpt-4o-mini"] }],
  ])("answers a call that differs in %s alone", async (_name, members) => {
    const body = newChat();
    expect(await second(body, { ...body, ...members })).toBe("hit");
  });

  test("is separate per customer on request", async () => {
    const of = (customer: Row): Row => ({ ...body, cache_options: { cache_by_customer: true }, ...customer });
    const body = newChat();
    expect(await second(of({ customer_identifier: "c1" }), of({ customer_identifier: "c2" }))).toBe("miss");
    expect(cacheOf(await send(of({ customer_params: { customer_identifier: "c2" } })))).toBe("hit");
  });

  test("distinguishes models by default", async () => {
    const body = newChat({ cache_options: { is_cached_by_model: false } });
    expect(await second(body, { ...body, model: "gpt-4o-mini" })).toBe("hit");
    const other = { ...body, model: "gpt-4o-mini", credential_override: { openai: { api_key: "sk-another" } } };
    expect(cacheOf(await send(other))).toBe("miss");
  });

  test("never crosses organizations or environments", async () => {
    const other = await gateway.app.newOrganization();
    const body = newChat();
    expect(await second(body, body, other.prod)).toBe("miss");
    expect(cacheOf(await send(body, gateway.app.test))).toBe("miss");
    expect(cacheOf(await send(body))).toBe("hit");
  });

  test("leaves no span for a hit without logging", async () => {
    const body = newChat({ cache_options: { omit_log: true }, custom_identifier: "omitted" });
    expect((await send(body)).headers.get("x-spanway-log-id")).not.toBeNull();
    const again = await send(body);
    expect([cacheOf(again), again.headers.get("x-spanway-log-id")]).toEqual(["hit", null]);
    await spanOf(await send(newChat()));
    const listed = await listSpans(gateway.app.prod, { custom_identifier: { value: ["omitted"], operator: "" } });
    expect(listed.results).toHaveLength(1);
  });

  test.each([false, true])(
    "P20: stores nothing of a call without content in its record (stream: %j)",
    async (stream) => {
      const body = newChat({ stream });
      expect(await second({ ...body, disable_log: true }, { ...body, disable_log: true })).toBe("miss");
      await send(body);
      const hit = await send({ ...body, disable_log: true });
      expect(cacheOf(hit)).toBe("hit");
      expect(JSON.stringify(await spanOf(hit))).not.toMatch(/Hello|Question/);
    },
  );

  test("expires after cache_ttl, and returns nothing older", async () => {
    const short = newChat({ cache_ttl: 0.2 });
    const long = newChat({ cache_ttl: 60 });
    await send(short);
    await send(long);
    await sleep(250);
    expect(cacheOf(await send(short))).toBe("miss");
    expect(cacheOf(await send(long))).toBe("hit");
    expect(cacheOf(await send({ ...long, cache_ttl: 0.2 }))).toBe("miss");
    const never = newChat({ cache_ttl: 0 });
    expect(await second(never, never)).toBe("miss");
  });

  test("sends the provider the same request that the key was computed from, even if parsers differ", async () => {
    requests += 1;
    const sent = `{"model":"gpt-4o","messages":[{"role":"user","content":"a"}],"messages":[{"role":"user","content":"b ${requests}"}]}`;
    const params = Buffer.from(JSON.stringify({ cache_enabled: true })).toString("base64");
    await gateway.app.prod.post(path, sent, { "x-data-svc-params": params });
    expect(gateway.upstream.requests.at(-1)?.body).not.toContain('"a"');
  });
});

describe("A stream", () => {
  const body = (members: Row = {}): Row => newChat({ stream: true, ...members });

  test("is served from a whole response, with tool calls and usage", async () => {
    gateway.upstream.script(answers(200, withTools));
    const whole = newChat();
    await send(whole);
    const streamed = await send({
      ...whole,
      stream: true,
      stream_options: { include_usage: true },
      request_breakdown: true,
    });
    expect([cacheOf(streamed), streamed.headers.get("content-type")]).toEqual([
      "hit",
      "text/event-stream; charset=utf-8",
    ]);
    const events = eventsOf(streamed.text) as Row[];
    expect(events.at(-1)).toBe("[DONE]");
    expect(events[0]).toMatchObject({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      choices: [
        { index: 0, delta: { role: "assistant", tool_calls: toolCalls.map((call, index) => ({ index, ...call })) } },
      ],
    });
    expect(events[1]).toMatchObject({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] });
    expect(events[2]).toMatchObject({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 2 } });
    expect(events[3]).toMatchObject({ request_breakdown: { cached: true, cost: 0, stream: true } });
    expect(await spanOf(streamed)).toMatchObject({ cache_hit: true, cost: 0, stream: true, prompt_tokens: 10 });
    const bare = eventsOf((await send({ ...whole, stream: true })).text);
    expect(JSON.stringify(bare)).not.toContain("prompt_tokens");
  });

  test("is stored as its complete response", async () => {
    gateway.upstream.script(streams(...helloStream, usageChunk(), done));
    const streamed = body();
    await send(streamed);
    const whole = await send({ ...streamed, stream: false });
    expect([cacheOf(whole), whole.json]).toEqual([
      "hit",
      completion({
        choices: [
          expect.objectContaining({
            index: 0,
            message: { role: "assistant", content: "Hello." },
            finish_reason: "stop",
          }),
        ],
      }),
    ]);
    const again = await send({ ...streamed, stream_options: { include_usage: true } });
    expect([cacheOf(again), textOf(eventsOf(again.text))]).toEqual(["hit", "Hello."]);
    expect(again.text).toContain('"prompt_tokens":10');
  });

  test("keeps tool calls and log probabilities that arrived in pieces", async () => {
    const piece = (index: number, members: Row): string => chunk({ tool_calls: [{ index, ...members }] });
    const logprobs = (token: string): Row => ({
      content: [{ token, logprob: -0.1, bytes: [1], top_logprobs: [] }],
      refusal: null,
    });
    gateway.upstream.script(
      streams(
        chunk({ role: "assistant", content: null }),
        piece(0, { id: "call_0", type: "function", function: { name: "a", arguments: "" } }),
        piece(0, { function: { arguments: '{"x"' } }),
        piece(1, {
          id: "call_1",
          type: "function",
          function: { name: "b", arguments: '{"x":1}' },
          extra_content: { k: "s" },
        }),
        piece(0, { function: { arguments: ":0}" } }),
        chunk({}, null, { choices: [{ index: 0, delta: {}, finish_reason: null, logprobs: logprobs("A") }] }),
        chunk({}, null, { choices: [{ index: 0, delta: {}, finish_reason: null, logprobs: logprobs("B") }] }),
        chunk({}, "tool_calls"),
        done,
      ),
    );
    const streamed = body();
    await send(streamed);
    const whole = await send({ ...streamed, stream: false });
    expect(cacheOf(whole)).toBe("hit");
    const [first, other] = toolCalls;
    expect((whole.json as { choices: unknown }).choices).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: null, tool_calls: [first, { ...other, extra_content: { k: "s" } }] },
        finish_reason: "tool_calls",
        logprobs: {
          content: [...(logprobs("A")["content"] as unknown[]), ...(logprobs("B")["content"] as unknown[])],
          refusal: null,
        },
      },
    ]);
  });
});

describe("Nothing is stored of", () => {
  const isCached = async (script: Script, members: Row = {}, then: Row = {}): Promise<boolean> => {
    gateway.upstream.script(script);
    const body = newChat({ retries: 0, ...members });
    await send(body).catch(() => undefined);
    gateway.upstream.script(answers(200, completion()));
    return cacheOf(await send({ ...body, ...then })) === "hit";
  };
  const finished = (finish_reason: string | null): Row =>
    completion({ choices: [{ index: 0, message: { role: "assistant", content: "Hel" }, finish_reason }] });

  test.each<[string, Script, Row]>([
    ["an error", answers(400, { error: { message: "no" } }), {}],
    ["an error with status 200", answers(200, { error: { message: "no" } }), {}],
    ["an empty completion", answers(200, { choices: [] }), {}],
    ["a reply cut by its length", answers(200, finished("length")), {}],
    ["a reply cut by a filter", answers(200, finished("content_filter")), {}],
    ["a reply without a finish", answers(200, finished(null)), {}],
    ["a stream that broke off", streams(...helloStream.slice(0, 3)), { stream: true }],
    [
      "a stream with an error in it",
      streams(...helloStream.slice(0, 3), `data: {"error":{"message":"no"}}\n\n`),
      { stream: true },
    ],
    ["a stream cut by its length", streams(...helloStream.slice(0, 3), chunk({}, "length"), done), { stream: true }],
    ["a stream that lacks a choice", streams(...helloStream, done), { stream: true, n: 2 }],
    ["an answer that is too large", answers(200, completion({ padding: "x".repeat(1024 * 1024) })), {}],
  ])("%s", async (_name, script, members) => {
    expect(await isCached(script, members)).toBe(false);
  });

  test("a call whose client disconnected", async () => {
    const body = newChat({ stream: true });
    gateway.upstream.script(async (connection, request) => {
      await streams(...helloStream.slice(0, 2))(connection, request);
      await connection.closed(2_000);
      return "close";
    });
    const leaving = new AbortController();
    const response = await fetch(gateway.app.url + path, {
      method: "POST",
      headers: { authorization: `Bearer test_prod_key_0123456789`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    await sleep(100);
    gateway.upstream.script(answers(200, completion()));
    expect(cacheOf(await send({ ...body, stream: false }))).toBe("miss");
  });

  test("a fallback under the requested model", async () => {
    gateway.upstream.script((connection, request) => {
      const { model } = JSON.parse(request.body) as Row;
      const script = model === "gpt-4o" ? answers(500, { error: { message: "no" } }) : answers(200, completion());
      return script(connection, request);
    });
    const body = newChat({ fallback_models: ["gpt-4o-mini"], retries: 0 });
    expect((await send(body)).headers.get("x-spanway-model")).toBe("gpt-4o-mini");
    expect(cacheOf(await send(body))).toBe("miss");
    const direct = await send({ ...body, model: "gpt-4o-mini" });
    expect([cacheOf(direct), direct.headers.get("x-spanway-model")]).toEqual(["hit", "gpt-4o-mini"]);
  });
});

test("Responses of a translated provider are stored as completions", async () => {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [{ type: "text", text: "Hello." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, output_tokens: 2 },
  };
  gateway.upstream.script(answers(200, message));
  const body = newChat({ model: "anthropic/claude-sonnet-4-5", max_tokens: 10, seed: 1 });
  const first = await send(body);
  const again = await send(body);
  expect([cacheOf(again), again.text]).toEqual(["hit", first.text]);
  expect(again.headers.get("x-spanway-adjusted")).toBe(first.headers.get("x-spanway-adjusted"));
  expect(again.headers.get("x-spanway-provider")).toBe("anthropic");
});

test("customer params of a hit are applied, and are 400 if invalid, as without the cache", async () => {
  const { prod } = await gateway.app.newOrganization();
  const body = newChat();
  expect(await second(body, body, prod)).toBe("miss");
  const customer_params = { customer_identifier: "told", name: "Told", period_budget: 3, budget_duration: "daily" };
  const hit = await send({ ...body, customer_params }, prod);
  expect([hit.status, cacheOf(hit)]).toEqual([200, "hit"]);
  expect((await prod.get("/api/users/told/")).json).toMatchObject({
    name: "Told",
    period_budget: 3,
    budget_duration: "daily",
  });
  const wrong = await send({ ...body, customer_params: { customer_identifier: "told", period_budget: -1 } }, prod);
  expect(wrong).toMatchObject({ status: 400, json: { error: { param: "customer_params.period_budget" } } });
});

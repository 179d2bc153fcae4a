import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chunk, completion, done, eventsOf, helloStream, question, textOf, usageChunk } from "../support/chat.ts";
import { apiLimits } from "../../src/api/limits.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, streams } from "../support/scripted-upstream.ts";
import { always, retrieveSpan } from "../support/spans.ts";
import type { Answer, ListAnswer, Row } from "../support/test-client.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.script(answers(200, completion())));

const path = "/api/chat/completions";
const chat = (members: Row = {}): Row => ({ model: "gpt-4o", messages: [question], ...members });
const complete = (members: Row = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  gateway.app.prod.post(path, chat(members), headers);
const spanOf = (answer: Answer): Promise<Row> => retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id"));
const lastBody = (): Row => JSON.parse(gateway.upstream.requests.at(-1)?.body ?? "") as Row;
const errorOf = (answer: Answer): Row => (answer.json as { error: Row }).error;
const inBase64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");

describe("POST /api/chat/completions sends a chat completion", () => {
  test("and returns the response byte for byte, on every alias", async () => {
    for (const alias of [path, `${path}/`, "/v1/chat/completions", "/chat/completions"]) {
      const answer = await gateway.app.prod.post(alias, chat());
      expect([alias, answer.status, answer.text]).toEqual([alias, 200, JSON.stringify(completion())]);
    }
  });

  test("whose request is passed on byte for byte without service parameters", async () => {
    const sent = `{ "model":"gpt-4o",\n "messages":[{"role":"user","content":"h\\u00e9"}], "seed": 12345678901234567890 }`;
    await gateway.app.prod.post(path, sent);
    expect(gateway.upstream.requests.at(-1)?.body).toBe(sent);
    expect(gateway.upstream.requests.at(-1)?.path).toBe("/v1/chat/completions");
  });

  test("and keeps long digits and unknown parameters if the body has to change", async () => {
    const members = `"messages":[{"role":"user","content":"x"}],"seed":12345678901234567890,"some_new_parameter":{"a":[1.50]}`;
    await gateway.app.prod.post(path, `{"model":"openai/gpt-4o",${members},"metadata":{"a":1}}`);
    expect(gateway.upstream.requests.at(-1)?.body).toBe(`{"model":"gpt-4o",${members.replace("1.50", "1.5")}}`);
  });

  test("with server-sent events when stream is true", async () => {
    gateway.upstream.script(streams(...helloStream, usageChunk(), done));
    const answer = await complete({ stream: true });
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(answer.text).toBe([...helloStream, done].join(""));
    expect(await spanOf(answer)).toMatchObject({ stream: true, status_code: 200, prompt_tokens: 10 });
  });

  test("logged as one span with request, response and usage", async () => {
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    const params = {
      tools,
      temperature: 0.5,
      max_tokens: 7,
      stop: ["x"],
      customer_identifier: "c1",
      thread_identifier: "t1",
    };
    const answer = await complete({ ...params, metadata: { a: 1, b: { c: true } } });
    expect(await spanOf(answer)).toMatchObject({
      log_type: "chat",
      log_method: "gateway",
      model: "gpt-4o",
      provider_id: "openai",
      prompt_messages: [question],
      completion_message: { role: "assistant", content: "Hello." },
      prompt_tokens: 10,
      completion_tokens: 2,
      cost: 0.000045,
      ...params,
      metadata: { a: 1, b: { c: true } },
      limit_info: { is_allowed: true },
      environment: "prod",
    });
    const { results } = await gateway.app.prod.waitForSpans(1, { customer_identifier: "c1" });
    expect(results.length).toBe(1);
  });

  test("whose span can be retrieved immediately", async () => {
    for (let i = 0; i < 5; i += 1) {
      const id = (await complete()).headers.get("x-spanway-log-id");
      const span = await gateway.app.prod.get(`/api/request-logs/${id}/`);
      expect([i, span.status, (span.json as Row)["id"]]).toEqual([i, 200, id]);
    }
  });

  test("with headers for its log, provider, model, attempts and the gateway's overhead", async () => {
    const { headers } = await complete({}, { "x-request-id": "mine" });
    expect(headers.get("x-request-id")).toBe("mine");
    expect(headers.get("x-spanway-provider")).toBe("openai");
    expect(headers.get("x-spanway-model")).toBe("gpt-4o");
    expect(headers.get("x-spanway-attempts")).toBe("1");
    expect(Number(headers.get("x-spanway-overhead-ms"))).toBeGreaterThan(0);
  });
});

describe("service parameters", () => {
  test("are accepted in the body, in svc_params or in the header, and never reach the provider", async () => {
    const answer = await complete(
      { customer_identifier: "body", svc_params: { customer_identifier: "nested", thread_identifier: "nested" } },
      { "X-Data-Svc-Params": inBase64({ thread_identifier: "header", custom_identifier: "header" }) },
    );
    expect(await spanOf(answer)).toMatchObject({
      customer_identifier: "body",
      thread_identifier: "nested",
      custom_identifier: "header",
    });
    expect(lastBody()).toEqual(chat());
    expect(Object.keys(gateway.upstream.requests.at(-1)?.headers ?? {})).not.toContain("x-data-svc-params");
  });

  test("that are invalid are 400 naming them, in OpenAI's shape, and logged", async () => {
    const answer = await complete({ svc_params: { retries: "many" } });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toEqual({
      message: expect.stringContaining("svc_params.retries"),
      type: "invalid_request_error",
      param: "svc_params.retries",
      code: "invalid_request",
    });
    expect(await spanOf(answer)).toMatchObject({
      status_code: 400,
      prompt_messages: null,
      is_log_omitted: true,
      error_message: errorOf(answer)["message"],
    });
  });

  test.each(["NaN", "Infinity", "-Infinity"])("a body with %s is not JSON", async (value) => {
    const before = gateway.upstream.requests.length;
    const body = `{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}],"temperature":${value}}`;
    const refused = await gateway.app.prod.post("/v1/chat/completions", body);
    expect([refused.status, errorOf(refused)["message"]]).toEqual([400, expect.stringContaining("not valid JSON")]);
    expect(await spanOf(refused)).toMatchObject({ error_message: errorOf(refused)["message"] });
    expect(gateway.upstream.requests.length).toBe(before);
  });

  test("that refer to objects stored elsewhere are 400 with the alternative", async () => {
    const before = gateway.upstream.requests.length;
    for (const [members, param, advice] of [
      [{ prompt: { prompt_id: "p-1", variables: { a: 1 } } }, "prompt", "as messages"],
      [{ svc_params: { prompt: { prompt_id: "p-1" } } }, "svc_params.prompt", "as messages"],
      [{ load_balance_group: { group_id: "g-1" } }, "load_balance_group", "list its members"],
    ] as const) {
      const refused = await complete(members);
      expect([refused.status, errorOf(refused)["param"]]).toEqual([400, param]);
      expect(errorOf(refused)["message"]).toContain(advice);
    }
    expect(gateway.upstream.requests.length).toBe(before);
  });

  test("prompt is OpenAI's own unless it names a stored prompt", async () => {
    const prompt = { id: "pmpt_1", version: "2", variables: { a: "b" } };
    await gateway.app.prod.post("/v1/responses", { model: "gpt-4o", input: "Hi", prompt });
    expect(lastBody()).toEqual({ model: "gpt-4o", input: "Hi", prompt });
  });

  test("disable_log stores no content", async () => {
    gateway.upstream.script(answers(400, { error: { message: "bad: Say hello." } }));
    for (const script of [answers(200, completion()), answers(400, { error: { message: "bad: Say hello." } })]) {
      gateway.upstream.script(script);
      const span = await spanOf(await complete({ disable_log: true, tools: [{ type: "function" }], stop: ["hello"] }));
      expect(JSON.stringify(span)).not.toMatch(/[Hh]ello/);
      expect(span).toMatchObject({ is_log_omitted: true, tools: null, model: "gpt-4o" });
    }
  });

  test("request_breakdown adds the figures of the span: to the body, or as the last chunk of a stream", async () => {
    const whole = await complete({ request_breakdown: true, metadata: { a: 1 } });
    const expected = {
      prompt_tokens: 10,
      completion_tokens: 2,
      cost: 0.000045,
      prompt_messages: [question],
      completion_message: { role: "assistant", content: "Hello." },
      model: "gpt-4o",
      cached: false,
      status_code: 200,
      scores: {},
      category: "",
      sentiment_score: 0,
    };
    expect(whole.json).toEqual({
      ...completion(),
      request_breakdown: expect.objectContaining({
        ...expected,
        stream: false,
        metadata: { a: 1 },
        full_request: chat(),
      }),
    });

    gateway.upstream.script(streams(...helloStream, usageChunk(), done));
    const events = eventsOf((await complete({ request_breakdown: true, stream: true })).text);
    expect(events.at(-1)).toBe("[DONE]");
    const last = events.at(-2) as Row;
    expect(last).toMatchObject({
      id: "chatcmpl-1",
      model: "gpt-4o-2024-08-06",
      choices: [{ index: 0, delta: {}, finish_reason: null, request_breakdown: { ...expected, stream: true } }],
      request_breakdown: { ...expected, stream: true },
    });
    expect(last).not.toHaveProperty("usage");
    expect(textOf(events)).toBe("Hello.");
  });
});

describe("the beta token-breakdown", () => {
  test("returns usage in full detail, streamed or not", async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 2,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 4 },
    };
    const detailed = {
      prompt_tokens_details: { cached_tokens: 4, cache_creation_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 0,
    };
    const beta = { "x-svc-beta": "other, token-breakdown-2026-03-26" };
    gateway.upstream.script(answers(200, completion({ usage })));
    expect((await complete({}, beta)).json).toMatchObject({ usage: { ...usage, ...detailed } });
    gateway.upstream.script(streams(...helloStream, usageChunk(usage), done));
    const stream = await complete({ stream: true, stream_options: { include_usage: true } }, beta);
    expect(eventsOf(stream.text).at(-2)).toMatchObject({ choices: [], usage: { ...usage, ...detailed } });
  });
});

describe("errors", () => {
  test.each<[what: string, body: unknown, param: string | null]>([
    ["no JSON", "{", null],
    ["no object", "[]", null],
    ["no model", { messages: [question] }, "model"],
    ["no messages", { model: "gpt-4o" }, "messages"],
    ["a temperature beyond 2", chat({ temperature: 2.1 }), "temperature"],
    ["a frequency_penalty below -2", chat({ frequency_penalty: -2.1 }), "frequency_penalty"],
    ["a stream that is no boolean", chat({ stream: "yes" }), "stream"],
  ])("400 for %s, with a log", async (_what, body, param) => {
    const before = gateway.upstream.requests.length;
    const answer = await gateway.app.prod.post(path, body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ message: expect.any(String), type: "invalid_request_error", param });
    expect(gateway.upstream.requests.length).toBe(before);
    expect(await spanOf(answer)).toMatchObject({ status_code: 400, failed: true });
  });

  test("401 without a key, in OpenAI's shape", async () => {
    const answer = await gateway.app.prod.post(path, chat(), { authorization: "Bearer wrong_key_0123456789" });
    expect(answer.status).toBe(401);
    expect(errorOf(answer)).toMatchObject({ type: "authentication_error" });
  });

  test.each([400, 404, 413, 422])(
    "400 with the provider's message when it responds %i to the request",
    async (status) => {
      gateway.upstream.script(
        answers(status, { error: { message: "no such thing", type: "t", param: "p", code: "c" } }),
      );
      const answer = await complete();
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toEqual({ message: "no such thing", type: "t", param: "p", code: "c" });
      expect(await spanOf(answer)).toMatchObject({ status_code: 400, error_message: "no such thing" });
    },
  );

  test.each([401, 402, 403, 500, 503])("424, never 401, when it responds %i", async (status) => {
    gateway.upstream.script(answers(status, { error: { message: `Incorrect API key provided: sk-secret123456789` } }));
    const answer = await complete({ retries: 0 });
    expect(answer.status).toBe(424);
    expect(errorOf(answer)).toMatchObject({ type: "upstream_error", param: null });
    const span = await spanOf(answer);
    expect(span).toMatchObject({ status_code: 424, failed: true });
    expect(JSON.stringify(span) + answer.text).not.toContain("sk-secret");
  });

  test("405 for GET", async () => {
    expect((await gateway.app.prod.get(path)).status).toBe(405);
  });
});

describe("echo", () => {
  test("returns the prompt beside the answer, and is not passed on", async () => {
    expect((await complete({ echo: true })).json).toEqual({ ...completion(), prompt_messages: [question] });
    expect(lastBody()).toEqual(chat());
    gateway.upstream.script(streams(...helloStream, done));
    const events = eventsOf((await complete({ echo: true, stream: true })).text);
    expect(events.at(-2)).toMatchObject({ choices: [], prompt_messages: [question] });
  });
});

describe("the model spanway/echo", () => {
  test("responds with the last user message, without any provider", async () => {
    const messages = [question, { role: "assistant", content: "no" }, { role: "user", content: "one two three" }];
    const before = gateway.upstream.requests.length;
    const whole = await gateway.app.prod.post(path, { model: "spanway/echo", messages });
    expect(whole.json).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: "one two three" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 6, completion_tokens: 3, total_tokens: 9 },
    });
    const options = { stream: true, stream_options: { include_usage: true } };
    const events = eventsOf((await gateway.app.prod.post(path, { model: "spanway/echo", messages, ...options })).text);
    expect(textOf(events)).toBe("one two three");
    expect(events.at(-2)).toMatchObject({ choices: [], usage: { total_tokens: 9 } });
    expect(gateway.upstream.requests.length).toBe(before);
    expect(await spanOf(whole)).toMatchObject({ model: "echo", provider_id: "spanway", total_tokens: 9 });
  });
});

test("a whole response to a stream request becomes a stream", async () => {
  const tool_calls = [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }];
  const message = { role: "assistant", content: null, tool_calls };
  gateway.upstream.script(answers(200, completion({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] })));
  const answer = await complete({ stream: true });
  const events = eventsOf(answer.text);
  expect(events.at(-1)).toBe("[DONE]");
  expect(events[0]).toMatchObject({ choices: [{ delta: { tool_calls: [{ index: 0, ...tool_calls[0] }] } }] });
  expect(await spanOf(answer)).toMatchObject({ completion_message: { tool_calls } });
});

test("several choices of a stream are distinguished", async () => {
  const at = (index: number, delta: Row, finish_reason: string | null = null): string =>
    chunk({}, null, { choices: [{ index, delta, finish_reason }] });
  gateway.upstream.script(
    streams(
      at(1, { content: "b1" }),
      at(0, { content: "a1" }),
      at(1, { content: "b2" }),
      at(0, {}, "stop"),
      at(1, {}, "length"),
      done,
    ),
  );
  const span = await spanOf(await complete({ stream: true, n: 2 }));
  expect(span["completion_messages"]).toMatchObject([{ content: "a1" }, { content: "b1b2" }]);
});

describe("calls are in the group of one model, whatever their outcome", () => {
  test("answered, refused for a parameter, for a budget, or by a route that the model does not serve", async () => {
    const { prod } = await gateway.app.newOrganization();
    const call = (model: string, members: Row = {}) => prod.post(path, chat({ model, ...members }));
    const broke = { customer_params: { customer_identifier: "broke", total_budget: 0 } };
    for (const model of ["spanway/echo", "openai/gpt-4o", "gpt-4o"]) {
      const statuses = [await call(model), await call(model, { temperature: 9 }), await call(model, { retries: "x" })];
      statuses.push(await call(model, broke), await prod.post("/api/embeddings", { model, input: {}, retries: "x" }));
      expect(statuses.map(({ status }) => status)).toEqual([200, 400, 400, 429, 400]);
    }
    // No credential exists for it.
    expect((await call("groq/llama")).status).toBe(424);
    expect((await prod.request("POST", path, "{")).status).toBe(400);
    expect((await prod.waitForSpans(17)).count).toBe(17);
    const groups = (await prod.get(`/api/request-logs/groups/?group_by=model&${always}`)).json as ListAnswer;
    const counts = groups.results.map((row) => [row["model"], row["number_of_requests"]]);
    expect(Object.fromEntries(counts as [string, number][])).toEqual({
      echo: 5,
      "gpt-4o": 10,
      llama: 1,
      "": 1,
    });
  });
});

describe("calls that are refused before they are read", () => {
  const tooLarge = Buffer.alloc(apiLimits.gatewayBodyBytes + 1, " ");

  test.each([
    ["chat", path],
    ["embedding", "/v1/embeddings"],
    ["response", "/v1/responses"],
    ["transcription", "/v1/audio/transcriptions"],
  ])("for their size are spans of their kind, for the customer in the header: %s", async (log_type, route) => {
    const { prod } = await gateway.app.newOrganization();
    const header = { "x-data-svc-params": inBase64({ customer_identifier: "large" }) };
    const answer = await prod.post(route, tooLarge, header);
    expect([answer.status, errorOf(answer)["code"]]).toEqual([413, "payload_too_large"]);
    const { results } = await prod.waitForSpans(1);
    expect(results).toMatchObject([
      {
        log_type,
        status_code: 413,
        status: "failed",
        customer_identifier: "large",
        model: null,
        cost: 0,
        log_method: "gateway",
      },
    ]);
    expect(results[0]?.["error_message"]).toBe(errorOf(answer)["message"]);
    expect(answer.headers.get("x-spanway-log-id")).toBe(results[0]?.["unique_id"]);
  });

  test("for a missing key are counted by route, without a span", async () => {
    const { prod } = await gateway.app.newOrganization();
    const count = async (): Promise<number> => {
      const { text } = await gateway.app.prod.get("/metrics");
      return Number(
        /^http_requests_total\{route="\/api\/chat\/completions",method="POST",status="401"\} (\d+)$/m.exec(text)?.[1] ??
          0,
      );
    };
    const before = await count();
    expect((await prod.post(path, chat(), { authorization: "Bearer no-such-key" })).status).toBe(401);
    await expect.poll(count).toBe(before + 1);
    expect((await prod.list()).count).toBe(0);
  });
});

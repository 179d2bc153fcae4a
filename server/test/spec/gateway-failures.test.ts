import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completion, done, helloStream, question } from "../support/chat.ts";
import { startTestGateway, upstreamKey, type TestGateway } from "../support/gateway.ts";
import { answers, streams, type Script } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Answer, Row } from "../support/test-client.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const complete = (members: Row = {}): Promise<Answer> =>
  gateway.app.prod.post("/api/chat/completions", { model: "gpt-4o", messages: [question], ...members });
const errorOf = (answer: Answer): Row => (answer.json as { error: Row }).error;
const modelOf = (body: string): unknown => (JSON.parse(body) as Row)["model"];

/** A script per model, by the name of the model in the request. */
const byModel =
  (scripts: Record<string, Script>): Script =>
  (connection, request) => {
    const model = String(modelOf(request.body));
    const script = scripts[model];
    if (script === undefined) throw new Error(`no script for ${model}`);
    return script(connection, request);
  };

const refuses = (status: number, error: Row): Script => answers(status, { error });

describe("a request that one model rejects", () => {
  test.each<[what: string, script: Script]>([
    ["a context that is full", refuses(400, { message: "This model's maximum context length is 8192 tokens." })],
    ["a content filter", refuses(400, { message: "filtered", code: "content_filter" })],
    ["a parameter that it does not know", refuses(400, { message: "Unsupported parameter: 'seed'.", param: "seed" })],
    ["a schema that it does not take", refuses(422, { message: "response_format is not available." })],
    ["a filter that answers 403", refuses(403, { message: "Content violates usage guidelines." })],
    ["an overflow that it calls its own fault", refuses(500, { message: "input exceeds the context window" })],
    ["a body that is too large for it", refuses(413, { message: "Request body too large." })],
  ])("P3: is put to the next, for %s", async (_what, script) => {
    gateway.upstream.script(byModel({ "gpt-4o": script, "gpt-4o-mini": answers(200, completion()) }));
    for (const plan of [
      { fallback_models: ["gpt-4o-mini"] },
      { models: ["gpt-4o-mini"] },
      {
        model: "",
        load_balance_models: [
          { model: "gpt-4o", weight: 1 },
          { model: "gpt-4o-mini", weight: 1e-9 },
        ],
      },
    ]) {
      for (const stream of [false, true]) {
        const answer = await complete({ ...plan, retries: 2, stream });
        expect([answer.status, answer.headers.get("x-spanway-model")]).toEqual([200, "gpt-4o-mini"]);
        expect(answer.headers.get("x-spanway-attempts")).toBe("2");
      }
    }
  });

  test("P3: falls back if the gateway's own translator rejects it, without an upstream request", async () => {
    gateway.upstream.script(byModel({ "gpt-4o-mini": answers(200, completion()) }));
    const before = gateway.upstream.requests.length;
    const request = { model: "claude-sonnet-4-5", logprobs: true, fallback_models: ["gpt-4o-mini"] };
    const answer = await complete(request);
    expect([answer.status, answer.headers.get("x-spanway-model")]).toEqual([200, "gpt-4o-mini"]);
    expect(gateway.upstream.requests.length).toBe(before + 1);
    const span = await retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id"));
    expect(span["attempts"]).toMatchObject([
      { model: "claude-sonnet-4-5", status_code: null, error_message: expect.stringContaining("logprobs") },
      { model: "gpt-4o-mini", status_code: 200 },
    ]);
  });

  test("P3: ends with the first cause if every model rejects it", async () => {
    gateway.upstream.script(
      byModel({
        "gpt-4o": refuses(400, { message: "first", param: "a" }),
        "gpt-4o-mini": refuses(404, { message: "second" }),
        "gpt-4.1": refuses(422, { message: "third" }),
      }),
    );
    const answer = await complete({ fallback_models: ["gpt-4o-mini", "gpt-4.1"] });
    expect([answer.status, errorOf(answer)]).toMatchObject([400, { message: "first", param: "a" }]);
  });

  test("P3: is 424 with the first cause if the rejection came after an outage", async () => {
    gateway.upstream.script(
      byModel({
        "gpt-4o": refuses(500, { message: "the first is down" }),
        "gpt-4o-mini": refuses(400, { message: "the second refuses" }),
      }),
    );
    const answer = await complete({ fallback_models: ["gpt-4o-mini"], retries: 0 });
    expect([answer.status, errorOf(answer)]).toMatchObject([424, { message: "the first is down" }]);
  });

  test("P3: keeps the credential in use: the next call tries the same model first", async () => {
    gateway.upstream.script(
      byModel({ "gpt-4.1-nano": refuses(403, { message: "Content violates usage guidelines." }) }),
    );
    for (let i = 0; i < 5; i += 1) await complete({ model: "gpt-4.1-nano" });
    gateway.upstream.script(
      byModel({ "gpt-4.1-nano": answers(200, completion()), "gpt-4o-mini": answers(200, completion()) }),
    );
    const answer = await complete({ model: "gpt-4.1-nano", fallback_models: ["gpt-4o-mini"] });
    expect(answer.headers.get("x-spanway-model")).toBe("gpt-4.1-nano");
  });
});

test("P15: betas from the header are sent to every provider of a Claude, with those of the body, and to no other", async () => {
  gateway.upstream.script(answers(500, {}));
  const headers = { "anthropic-beta": "context-1m-2025-08-07, interleaved-thinking-2025-05-14" };
  const send = (model: string, members: Row = {}): Promise<Answer> =>
    gateway.app.prod.post("/v1/chat/completions", { model, messages: [question], retries: 0, ...members }, headers);
  await send("claude-sonnet-4", { anthropic_beta: ["context-1m-2025-08-07", "other-1"] });
  expect(gateway.upstream.requests.at(-1)?.headers["anthropic-beta"]?.split(",")).toEqual([
    "context-1m-2025-08-07",
    "other-1",
    "interleaved-thinking-2025-05-14",
  ]);
  await send("gpt-3.5-turbo");
  expect(gateway.upstream.requests.at(-1)?.headers).not.toHaveProperty("anthropic-beta");
  expect(gateway.upstream.requests.at(-1)?.body).not.toContain("context-1m");
  const before = gateway.upstream.requests.length;
  const wrong = await gateway.app.prod.post(
    "/v1/chat/completions",
    { model: "claude-sonnet-4", messages: [question] },
    { "anthropic-beta": "a b" },
  );
  expect([wrong.status, errorOf(wrong)["param"], gateway.upstream.requests.length]).toEqual([
    400,
    "anthropic-beta",
    before,
  ]);
});

test("P2: the header names the changes for the provider that responded, not for an earlier one", async () => {
  gateway.upstream.script(byModel({ o3: refuses(400, { message: "no" }), "gpt-4o-mini": answers(200, completion()) }));
  const answer = await complete({ model: "o3", max_tokens: 9, fallback_models: ["gpt-4o-mini"] });
  expect([answer.headers.get("x-spanway-model"), answer.headers.get("x-spanway-adjusted")]).toEqual([
    "gpt-4o-mini",
    null,
  ]);
});

const codeAt = async (status: number, body: unknown, headers: Record<string, string> = {}, members: Row = {}) => {
  gateway.upstream.script(answers(status, body, headers));
  const answer = await complete({ retries: 0, ...members });
  return [answer.status, errorOf(answer)["code"], answer.headers.get("retry-after")];
};

test("P14: the error code distinguishes a rate limit, an overload and a rejected credential", async () => {
  const claude = { model: "claude-3-haiku-20240307" };
  const anthropic = (type: string) => ({ type: "error", error: { type, message: "no" } });
  const wait = { "retry-after": "7" };
  expect(await codeAt(429, { error: { message: "slow down" } }, wait)).toEqual([424, "upstream_rate_limited", "7"]);
  expect(await codeAt(529, anthropic("overloaded_error"), wait, claude)).toEqual([424, "upstream_overloaded", "7"]);
  expect(await codeAt(503, { error: { message: "busy", code: "c" } })).toEqual([424, "upstream_overloaded", null]);
  const refused = "upstream_authentication_failed";
  expect(await codeAt(401, { error: { message: "bad key" } }, wait, { model: "o3" })).toEqual([424, refused, null]);
  expect(await codeAt(403, { message: "no" }, {}, { model: "o4-mini" })).toEqual([424, refused, null]);
  const credit = { error: { message: "You exceeded your current quota.", code: "insufficient_quota" } };
  expect(await codeAt(429, credit, {}, { model: "gpt-4" })).toEqual([424, "upstream_out_of_credit", null]);
  expect(await codeAt(502, "<html>", {}, { model: "gpt-4-turbo" })).toEqual([424, "upstream_failed", null]);
});

test("P14: within a stream, too", async () => {
  const event = (error: Row): string => `data: ${JSON.stringify({ error })}\n\n`;
  const request = { stream: true, retries: 0 };
  gateway.upstream.script(streams(event({ type: "rate_limit_error", message: "slow down" })));
  expect(errorOf(await complete({ ...request, model: "gpt-5" }))["code"]).toBe("upstream_rate_limited");
  gateway.upstream.script(streams(event({ type: "overloaded_error", message: "Overloaded" })));
  expect(errorOf(await complete({ ...request, model: "gpt-5-mini" }))["code"]).toBe("upstream_overloaded");
  const tooLong = "This model's maximum context length is 8192 tokens.";
  gateway.upstream.script(streams(event({ type: "invalid_request_error", message: tooLong })));
  const answer = await complete({ ...request, model: "gpt-5-nano" });
  expect([answer.status, errorOf(answer)["code"]]).toEqual([400, "context_length_exceeded"]);
});

test("P14: a full context has the same code for all providers, streamed or not", async () => {
  for (const stream of [false, true]) {
    const tooLong = { type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 9 > 8" } };
    gateway.upstream.script(answers(400, tooLong));
    const answer = await complete({ model: "claude-sonnet-4-5", stream });
    expect([answer.status, errorOf(answer)]).toMatchObject([
      400,
      { code: "context_length_exceeded", message: "prompt is too long: 9 > 8" },
    ]);
  }
});

describe("a provider that quotes the key it was sent", () => {
  const quoted = {
    message: `key ${upstreamKey} is wrong`,
    type: `t ${upstreamKey}`,
    param: `headers.authorization: Bearer ${upstreamKey}`,
    code: `c-${upstreamKey}`,
    metadata: { raw: { request: { headers: { authorization: `Bearer ${upstreamKey}` } } } },
  };
  const echoed = { "x-echo": upstreamKey, "www-authenticate": `Bearer realm="${upstreamKey}"` };
  const event = `data: ${JSON.stringify({ error: quoted })}\n\n`;

  test.each<[what: string, script: Script, stream: boolean]>([
    ["a refusal of the request", answers(400, { error: quoted }, echoed), false],
    ["a body that is text", answers(400, `POST / authorization: Bearer ${upstreamKey}`, echoed), false],
    ["a nested object as its message", answers(422, { message: quoted }, echoed), false],
    ["a failure", answers(500, { error: quoted }, echoed), false],
    ["a refusal of the key", answers(401, { error: quoted }, echoed), false],
    ["an error in a 200", answers(200, { error: quoted }, echoed), false],
    ["an error before a stream", answers(400, { error: quoted }, echoed), true],
    ["an error as the first event", streams(event), true],
    ["an error within a stream", streams(...helloStream.slice(0, 2), event, done), true],
  ])("K14: is neither returned nor recorded with it: %s", async (_what, script, stream) => {
    for (const model of ["gpt-4o-2024-08-06", "claude-opus-4-1"]) {
      gateway.upstream.script(script);
      const answer = await complete({ model, stream, retries: 0 });
      const span = await retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id"));
      expect(span).toMatchObject({ failed: true });
      const shown = answer.text + JSON.stringify([...answer.headers]) + JSON.stringify(span);
      expect(shown).not.toContain(upstreamKey.slice(3));
    }
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeEvent } from "../../src/gateway/providers/bedrock/event-stream.fixture.ts";
import { completionChunks } from "../../src/gateway/stream/stream-source.ts";
import { blockedPrompt } from "../../src/gateway/providers/gemini/answers.fixture.ts";
import {
  chunk,
  completion,
  done,
  event,
  eventsOf,
  helloStream,
  question,
  textOf,
  usageChunk,
} from "../support/chat.ts";
import {
  answers,
  startScriptedUpstream,
  streams,
  type Script,
  type ScriptedUpstream,
} from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, Row } from "../support/test-client.ts";

/** The provider's filter blocks an answer within a 200. */

const key = "sk-upstream-0123456789";
let app: TestApp;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  app = await startTestApp({
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: upstream.url,
    GEMINI_API_KEY: key,
    GEMINI_BASE_URL: upstream.url,
    BEDROCK_API_KEY: key,
    BEDROCK_BASE_URL: upstream.url,
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** gpt-4o-mini answers, gpt-4.1 is filtered, all others follow the script. */
function script(others: Script, stream: boolean): void {
  const good = stream ? streams(...helloStream, usageChunk(), done) : answers(200, completion());
  const bad = stream ? streams(...filteredStream) : answers(200, completion(filtered));
  upstream.script((connection, request) => {
    const named = request.body.includes('"gpt-4o-mini"') ? good : request.body.includes('"gpt-4.1"') ? bad : others;
    return named(connection, request);
  });
}

const complete = (members: Row): Promise<Answer> =>
  app.prod.post("/v1/chat/completions", { messages: [question], retries: 2, ...members });

const gemini = "gemini-3-pro-preview";
const nova = "bedrock/amazon.nova-pro-v1:0";
const claude = "claude-sonnet-4-5";
const tokens = { inputTokens: 9, outputTokens: 0, totalTokens: 9 };
const candidate = { candidates: [{ finishReason: "SAFETY", index: 0 }], usageMetadata: blockedPrompt.usageMetadata };
const converse = (stopReason: string): Row => ({
  output: { message: { role: "assistant", content: [] } },
  stopReason,
  usage: tokens,
});
const converseStream = (stopReason: string): Buffer =>
  Buffer.concat([
    encodeEvent("messageStart", { role: "assistant" }),
    encodeEvent("messageStop", { stopReason }),
    encodeEvent("metadata", { usage: tokens, metrics: { latencyMs: 1 } }),
  ]);
const anthropic = { id: "msg_1", type: "message", role: "assistant", model: claude, content: [] };
const anthropicUsage = { input_tokens: 9, output_tokens: 0 };
const filtered = {
  choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "content_filter" }],
};
const filteredStream = [chunk({ role: "assistant", content: "" }), chunk({}, "content_filter"), usageChunk(), done];

const blocks: Array<[what: string, model: string, whole: unknown, events: Array<string | Buffer>]> = [
  ["a prompt that Gemini blocks", gemini, blockedPrompt, [event(blockedPrompt)]],
  ["an answer that Gemini blocks", gemini, candidate, [event(candidate)]],
  ["an answer that Bedrock filters", nova, converse("content_filtered"), [converseStream("content_filtered")]],
  ["a guardrail of Bedrock", nova, converse("guardrail_intervened"), [converseStream("guardrail_intervened")]],
  [
    "a refusal of Claude",
    claude,
    { ...anthropic, stop_reason: "refusal", usage: anthropicUsage },
    [
      event({ type: "message_start", message: { ...anthropic, usage: anthropicUsage } }),
      event({ type: "message_delta", delta: { stop_reason: "refusal" }, usage: anthropicUsage }),
      event({ type: "message_stop" }),
    ],
  ],
  ["a filter of an OpenAI-shaped provider", "gpt-4o", completion(filtered), filteredStream],
];

describe.each([false, true])("P3 (stream: %j)", (stream) => {
  test.each(blocks)("%s falls back to the next model", async (_what, model, whole, events) => {
    script(stream ? streams(...events) : answers(200, whole), stream);
    const answer = await complete({ model, stream, fallback_models: ["gpt-4o-mini"] });
    expect([answer.status, answer.headers.get("x-spanway-model")]).toEqual([200, "gpt-4o-mini"]);
    expect(answer.headers.get("x-spanway-attempts")).toBe("2");
    expect(answer.text).not.toContain("content_filter");
    const chunks = stream ? eventsOf(answer.text) : completionChunks(answer.json as Row);
    expect(textOf(chunks)).toBe("Hello.");
    const span = await retrieveSpan(app.prod, answer.headers.get("x-spanway-log-id"));
    expect(span["attempts"]).toMatchObject([
      { status_code: 200, error_message: expect.any(String) },
      { status_code: 200 },
    ]);
  });

  test.each(blocks)("%s is the response if there is no fallback", async (_what, model, whole, events) => {
    script(stream ? streams(...events) : answers(200, whole), stream);
    for (const plan of [{ model }, { model: "gpt-4.1", fallback_models: [model] }]) {
      const answer = await complete({ ...plan, stream });
      const chunks = stream ? eventsOf(answer.text) : [answer.json];
      const finishes = (chunks as Row[]).flatMap(({ choices }) => (choices as Row[] | undefined) ?? []);
      expect(answer.status).toBe(200);
      expect(finishes.at(-1)).toMatchObject({ finish_reason: "content_filter" });
      expect(chunks.at(-1)).toEqual(stream ? "[DONE]" : answer.json);
    }
  });

  test("an answer that a filter truncated remains the response", async () => {
    const truncated = { choices: [{ ...filtered.choices[0], message: { role: "assistant", content: "Hel" } }] };
    const events = [chunk({ role: "assistant", content: "Hel" }), chunk({}, "content_filter"), done];
    script(stream ? streams(...events) : answers(200, completion(truncated)), stream);
    const answer = await complete({ model: "gpt-4o", stream, fallback_models: ["gpt-4o-mini"] });
    expect(answer.headers.get("x-spanway-model")).toBe("gpt-4o");
    expect(answer.text).toContain("Hel");
    expect(answer.text).toContain("content_filter");
  });

  test("the cost of a blocked prompt counts in addition to the answer", async () => {
    script(stream ? streams(event(candidate)) : answers(200, candidate), stream);
    const answer = await complete({ model: gemini, stream, fallback_models: ["gpt-4o-mini"] });
    const span = await retrieveSpan(app.prod, answer.headers.get("x-spanway-log-id"));
    const [first] = span["attempts"] as Row[];
    expect(first?.["cost"]).toBeCloseTo((9 * 2) / 1e6, 12);
    expect(Number(span["cost"])).toBeGreaterThan(Number(first?.["cost"]));
  });
});

test("P3: a blocked answer is 400 if the next model rejects the request too", async () => {
  upstream.script((connection, request) =>
    request.path.startsWith("/v1beta")
      ? answers(200, blockedPrompt)(connection, request)
      : answers(400, { error: { message: "No." } })(connection, request),
  );
  expect(await complete({ model: gemini, fallback_models: ["gpt-4o"] })).toMatchObject({
    status: 400,
    json: { error: { code: "content_filter", message: "The prompt was blocked: PROHIBITED_CONTENT" } },
  });
});

test("P15: betas of the header reach a Claude of Bedrock in its body", async () => {
  upstream.script(answers(200, converse("end_turn")));
  const model = "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0";
  const headers = { "anthropic-beta": "context-1m-2025-08-07" };
  await app.prod.post("/v1/chat/completions", { model, messages: [question] }, headers);
  expect(JSON.parse(upstream.requests.at(-1)?.body ?? "{}")).toMatchObject({
    additionalModelRequestFields: { anthropic_beta: ["context-1m-2025-08-07"] },
  });
});

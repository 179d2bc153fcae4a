import { afterAll, beforeAll, expect, test } from "vitest";
import { blockedPrompt, callThenStop } from "../../src/gateway/providers/gemini/answers.fixture.ts";
import { eventsOf } from "../support/chat.ts";
import { answers, startScriptedUpstream, streams, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row } from "../support/test-client.ts";

let app: TestApp;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  app = await startTestApp({ GEMINI_API_KEY: "AIza-canary", GEMINI_BASE_URL: upstream.url });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const chat = (members: Row = {}): Row => ({
  model: "gemini-3-pro-preview",
  messages: [{ role: "user", content: "The weather?" }],
  tools: [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }],
  ...members,
});

test("a streamed call arrives as OpenAI chunks, with its signature and its usage at the end", async () => {
  upstream.script(streams(...callThenStop.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)));
  const answer = await app.prod.post(
    "/api/chat/completions",
    chat({ stream: true, stream_options: { include_usage: true } }),
  );
  const events = eventsOf(answer.text) as Row[];
  expect(upstream.requests.at(-1)).toMatchObject({
    path: "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": "AIza-canary" },
  });
  expect(events.at(-1)).toBe("[DONE]");
  expect(events.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 29, completion_tokens: 819 } });
  expect(events.at(-3)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }] });
  expect(answer.text).toContain('"thought_signature":"EpEgCo4gAb4+"');
  const { results } = await app.prod.waitForSpans(1);
  expect(results).toMatchObject([
    { provider_id: "gemini", prompt_tokens: 29, completion_tokens: 819, status_code: 200 },
  ]);
});

test("a malformed response is charged, whole or streamed", async () => {
  const broken = {
    candidates: [{ content: {}, finishReason: "MALFORMED_FUNCTION_CALL", index: 0 }],
    usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 },
  };
  const scripts = [answers(200, broken), streams(`data: ${JSON.stringify(broken)}\r\n\r\n`)];
  for (const [index, script] of scripts.entries()) {
    upstream.script(script);
    const answer = await app.prod.post("/api/chat/completions", chat({ retries: 0, stream: index === 1 }));
    expect(answer.status).toBe(424);
    expect(await retrieveSpan(app.prod, answer.headers.get("x-spanway-log-id"))).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 100,
      cost: expect.closeTo((1000 * 2 + 100 * 12) / 1e6, 12) as number,
    });
  }
});

test("a blocked prompt is a response; a bad key is not the caller's error", async () => {
  upstream.script(answers(200, blockedPrompt));
  const blocked = await app.prod.post("/api/chat/completions", chat());
  expect(blocked.json).toMatchObject({ choices: [{ finish_reason: "content_filter", message: { content: "" } }] });
  upstream.script(answers(400, { error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" } }));
  expect((await app.prod.post("/api/chat/completions", chat({ retries: 0 }))).status).toBe(424);
});

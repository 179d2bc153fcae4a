import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completion, question } from "../support/chat.ts";
import { answers, startScriptedUpstream, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, Row } from "../support/test-client.ts";

/**
 * Names of members that JavaScript objects have (`constructor`, `__proto__`) are ordinary names in requests and in
 * providers' responses.
 */

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

const text = "Hello.";
const providers: Array<[model: string, reply: (reason: string) => Row]> = [
  [
    "gpt-4o",
    (reason) =>
      completion({ choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: reason }] }),
  ],
  [
    "claude-sonnet-4-5",
    (reason) => ({
      id: "msg_1",
      type: "message",
      role: "assistant",
      content: [{ type: "text", text }],
      stop_reason: reason,
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  ],
  [
    "gemini-3-pro-preview",
    (reason) => ({
      candidates: [{ content: { parts: [{ text }] }, finishReason: reason }],
      usageMetadata: {
        promptTokenCount: 1,
        candidatesTokenCount: 1,
        trafficType: reason,
        promptTokensDetails: [{ modality: reason, tokenCount: 1 }],
      },
    }),
  ],
  [
    "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    (reason) => ({
      output: { message: { role: "assistant", content: [{ text }] } },
      stopReason: reason,
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    }),
  ],
];

const complete = (body: string): Promise<Answer> => app.prod.post("/v1/chat/completions", body);
const names = ["constructor", "toString", "__proto__"];

describe.each(providers)("of %s", (model, reply) => {
  const bodyOf = (members: string, messages: unknown = [question]): string =>
    `{"model":${JSON.stringify(model)},"messages":${JSON.stringify(messages)},"retries":0,${members}}`;

  test.each(names)("a member %j of the request is passed on like any unknown one", async (name) => {
    upstream.script(answers(200, reply("stop")));
    const answer = await complete(bodyOf(`"max_tokens":9,"${name}":{"user":"polluted","stop":["x"]}`));
    expect([answer.status, answer.text.includes(text)]).toEqual([200, true]);
    const sent = upstream.requests.at(-1)?.body ?? "";
    expect(sent).toContain(`"${name}":{"user":"polluted","stop":["x"]}`);
    expect(sent).not.toMatch(/"stop_?sequences"/i);
  });

  test.each(names)("a value %j is an unknown value", async (name) => {
    upstream.script(answers(200, reply("stop")));
    const refused = [
      await complete(bodyOf(`"reasoning_effort":"${name}"`)),
      await complete(
        bodyOf(`"user":"u"`, [
          { role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: name } }] },
        ]),
      ),
    ];
    const [effort, audio] = refused.map(({ status }) => status);
    const isOpen = model === "gpt-4o";
    expect(effort).toBe(isOpen ? 200 : 400);
    // Bedrock reads any audio format itself.
    expect(audio).toBe(isOpen || model.startsWith("bedrock") ? 200 : 400);
  });

  test.each(names)("a response that ends with %j has a finish reason", async (name) => {
    upstream.script(answers(200, reply(name)));
    const answer = await complete(bodyOf(`"user":"u"`));
    expect([answer.status, (answer.json as { choices: Row[] }).choices[0]?.["finish_reason"]]).toEqual([
      200,
      model === "gpt-4o" ? name : "stop",
    ]);
  });

  test.each(names)("an error of type %j is an error of the provider", async (name) => {
    const error = { type: name, status: name, message: "No.", code: name };
    upstream.script(answers(418, { error, __type: name, message: "No." }));
    expect(await complete(bodyOf(`"user":"u"`))).toMatchObject({ status: 424, json: { error: { message: "No." } } });
  });
});

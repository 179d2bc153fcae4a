import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chunk, completion, done, question } from "../support/chat.ts";
import { gatewayOperations, send } from "../support/gateway-operations.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, streams } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Row } from "../support/test-client.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const call = async (members: Row): Promise<Row> => {
  const body = { model: "gpt-4o-mini", messages: [question], ...members };
  const answer = await gateway.app.prod.post("/v1/chat/completions", body);
  return retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id"));
};

describe("M6: a response without usage has one estimate, streamed or not", () => {
  const calls = [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } }];
  const custom = [{ id: "c1", type: "custom", custom: { name: "weather", input: "of Paris, now" } }];
  const called = { name: "weather", arguments: '{"city":"Paris"}' };
  const parts = [
    { type: "thinking", thinking: [{ type: "text", text: "because it is so" }] },
    { type: "text", text: "yes" },
  ];
  test.each<[string, Row, number]>([
    ["a word", { content: "hello" }, 2],
    ["what JSON escapes", { content: 'say "a\nb\tc"\n'.repeat(20) }, 60],
    ["any script", { content: "日本語のテキスト" }, 2],
    ["reasoning", { content: "yes", reasoning_content: "because it is so" }, 5],
    ["reasoning under its other name", { content: "yes", reasoning: "because it is so" }, 5],
    ["reasoning within the content", { content: parts }, 5],
    ["a call of a tool", { content: null, tool_calls: calls }, 6],
    ["a call of a custom tool", { content: null, tool_calls: custom }, 5],
    ["a call of OpenAI's former functions", { content: null, function_call: called }, 6],
    ["what is spoken", { content: null, audio: { id: "a", transcript: "because it is so" } }, 4],
    ["nothing", { content: "" }, 0],
  ])("%s", async (_, message, tokens) => {
    const { usage: _usage, ...silent } = completion();
    const whole = {
      ...silent,
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", ...message } }],
    };
    gateway.upstream.script(answers(200, whole));
    const one = await call({});
    const made = (message["tool_calls"] as Row[] | undefined)?.map((one, index) => ({ index, ...one }));
    const delta = { ...message, ...(made && { tool_calls: made }) };
    gateway.upstream.script(streams(chunk({ role: "assistant", ...delta }), chunk({}, "stop"), done));
    const other = await call({ stream: true });
    const figures = ({ prompt_tokens, completion_tokens, cost, usage_is_estimated }: Row) => [
      prompt_tokens,
      completion_tokens,
      cost,
      usage_is_estimated,
    ];
    expect(figures(other)).toEqual(figures(one));
    expect([one["completion_tokens"], one["usage_is_estimated"]]).toEqual([tokens, true]);
  });
});

test.each([
  { prompt_tokens: 1e15 },
  { prompt_tokens: -5000 },
  { completion_tokens: 10.5 },
  { completion_tokens: "many" },
])("M6: a usage with an invalid count on one side, %j, is estimated whole, streamed or not", async (half) => {
  const usage = { prompt_tokens: 1000, completion_tokens: 900, ...half };
  gateway.upstream.script(answers(200, { ...completion(), usage }));
  const one = await call({});
  gateway.upstream.script(
    streams(
      chunk({ role: "assistant", content: "Canberra." }),
      chunk({}, "stop"),
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "gpt-4o-mini", choices: [], usage })}\n\n`,
      done,
    ),
  );
  const other = await call({ stream: true });
  for (const span of [one, other]) {
    expect(span["usage_is_estimated"]).toBe(true);
    expect(span["prompt_tokens"]).toBeLessThan(100);
    expect(span["completion_tokens"]).toBeLessThan(100);
    expect(span["cost"]).toBeGreaterThan(0);
  }
});

/** The same response without any usage: Anthropic states it in several events. */
const silent = (text: string): string => text.replaceAll(/,?"usage":\{(?:[^{}]|\{[^{}]*\})*\}/g, "");

test.each(
  gatewayOperations.filter(({ canStream }) => canStream).map((operation) => [operation.name, operation] as const),
)("M6: a response of %s without usage has the estimate of its text, streamed or not", async (name, operation) => {
  const isRecording = name === "transcription";
  const spans: Row[] = [];
  for (const isStream of [false, true]) {
    const { begin, end, whole } = operation;
    gateway.upstream.script(
      isStream ? streams(silent(begin), silent(end)) : answers(200, JSON.parse(silent(JSON.stringify(whole)))),
    );
    const answer = await send(gateway.app.prod, operation, isStream ? { stream: true } : {});
    spans.push(await retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id")));
  }
  const [whole, streamed] = spans.map(({ status_code, prompt_tokens, completion_tokens, cost, usage_is_estimated }) => [
    status_code,
    prompt_tokens,
    completion_tokens,
    cost,
    usage_is_estimated,
  ]);
  expect(streamed).toEqual(whole);
  const [, , completionTokens, cost, isEstimated] = whole ?? [];
  // A recording is priced by its duration, which this one does not state.
  const right = isRecording ? [null, false, null] : [2, true, true];
  expect([completionTokens, typeof cost === "number", isEstimated]).toEqual(right);
});

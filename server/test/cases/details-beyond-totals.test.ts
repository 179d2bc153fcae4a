import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { requestOf, event, reply } from "../support/messages.ts";
import { throughOtlp, traceOf } from "../support/otlp.ts";
import { answers, streams } from "../support/scripted-upstream.ts";
import { retrieveSpan, roundTrip } from "../support/spans.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let gateway: TestGateway;
let prod: TestClient;
beforeAll(async () => {
  gateway = await startTestGateway();
  prod = gateway.app.prod;
});
afterAll(() => gateway.stop());

const model = "claude-sonnet-4-5";

/** 100 fresh, 50 written with details that state 110, 5 output. */
const usage = {
  input_tokens: 100,
  cache_creation_input_tokens: 50,
  cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 100 },
  output_tokens: 5,
};
const lines = [
  { bucket: "input", tokens: 100 },
  { bucket: "cache_write_1h", tokens: 50 },
  { bucket: "output", tokens: 5 },
];
const right = { prompt_tokens: 150, prompt_cache_creation_tokens: 50, total_tokens: 155, cost: 0.000675 };

const called = async (path: string, stated: Row): Promise<Row> => {
  gateway.upstream.script(answers(200, { ...reply, usage: stated }));
  const answer = await prod.post(path, requestOf());
  expect(answer.status).toBe(200);
  return retrieveSpan(prod, answer.headers.get("x-spanway-log-id"));
};

const anthropic = "anthropic.usage.cache_creation";
const ways: ReadonlyArray<[name: string, span: () => Promise<Row>]> = [
  ["a usage object", () => roundTrip(prod, { model, usage })],
  ["the usage of a full_response", () => roundTrip(prod, { model, full_response: { ...reply, model, usage } })],
  [
    "own fields",
    () =>
      roundTrip(prod, {
        model,
        prompt_tokens: 150,
        completion_tokens: 5,
        prompt_cache_creation_tokens: 50,
        usage_details: { cache_creation_5m_tokens: 10, cache_creation_1h_tokens: 100 },
      }),
  ],
  [
    "OTLP attributes",
    () =>
      throughOtlp(
        prod,
        traceOf({
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": model,
          "gen_ai.usage.input_tokens": 150,
          "gen_ai.usage.output_tokens": 5,
          "gen_ai.usage.cache_creation.input_tokens": 50,
          [`${anthropic}.ephemeral_5m_input_tokens`]: 10,
          [`${anthropic}.ephemeral_1h_input_tokens`]: 100,
        }),
      ),
  ],
  [
    "metadata of the AI SDK",
    () =>
      throughOtlp(
        prod,
        traceOf({
          "ai.operationId": "ai.generateText.doGenerate",
          "ai.model.id": model,
          "ai.model.provider": "anthropic.messages",
          "ai.usage.inputTokens": 100,
          "ai.usage.outputTokens": 5,
          "ai.response.providerMetadata": JSON.stringify({ anthropic: { usage, cacheCreationInputTokens: 50 } }),
        }),
      ),
  ],
  ["a call of the Messages API", () => called("/v1/messages", usage)],
  ["a chat completion", () => called("/api/chat/completions", usage)],
  [
    "a stream of the Messages API",
    async () => {
      const start = event("message_start", { message: { ...reply, content: [], stop_reason: null, usage } });
      const end = event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } });
      gateway.upstream.script(streams(start + end + event("message_stop")));
      const answer = await prod.post("/v1/messages", requestOf({ stream: true }));
      return retrieveSpan(prod, answer.headers.get("x-spanway-log-id"));
    },
  ],
];

describe("M1: cache lifetimes that exceed the stated total are reduced to it, an hour first", () => {
  test.each(ways)("%s", async (_name, spanOf) => {
    const span = await spanOf();
    expect(span).toMatchObject(right);
    expect(span).toHaveProperty(
      "cost_details.lines",
      lines.map((line) => expect.objectContaining(line) as Row),
    );
  });
});

describe("M2: the cache writes are the stated total, otherwise the sum of the lifetimes, in ingest and gateway", () => {
  const written = (total: number | undefined, short: number, long: number): Row => ({
    input_tokens: 100,
    ...(total !== undefined && { cache_creation_input_tokens: total }),
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
    output_tokens: 5,
  });
  test.each<[stated: Row, short: number, long: number]>([
    [written(50, 100, 10), 40, 10],
    [written(50, 20, 10), 40, 10],
    [written(0, 20, 10), 0, 0],
    [written(undefined, 20, 10), 20, 10],
  ])("%j", async (stated, short, long) => {
    const cost = Number(((100 * 3 + short * 3.75 + long * 6 + 5 * 15) / 1e6).toPrecision(12));
    const counts = { prompt_tokens: 100 + short + long, cost };
    expect(await roundTrip(prod, { model, usage: stated })).toMatchObject(counts);
    expect(await called("/v1/messages", stated)).toMatchObject(counts);
  });

  test("LangChain states 0 in total if it states the lifetimes", async () => {
    const input_token_details = { cache_creation: 0, ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 };
    const stated = { input_tokens: 130, output_tokens: 5, total_tokens: 135, input_token_details };
    expect(await roundTrip(prod, { model, usage: stated })).toMatchObject({ prompt_tokens: 130, cost: 0.00051 });
  });
});

describe("M2: a stated total that is larger than input and output", () => {
  const counts = { prompt_tokens: 300_000, completion_tokens: 1000, total_tokens: 305_000 };
  const marked = {
    total_tokens: 301_000,
    unpriced: "unplaced",
    cost_details: { unpriced: [expect.objectContaining({ bucket: "unplaced", quantity: 4000 })] },
  };
  test.each<[name: string, body: Row]>([
    ["a usage object", { usage: counts }],
    ["own fields", counts],
    ["unit prices", { ...counts, prompt_unit_price: 1, completion_unit_price: 1 }],
  ])("%s: the rest is marked", async (_name, body) => {
    const span = await roundTrip(prod, { model: "gemini-2.5-pro", ...body });
    expect(span).toMatchObject(marked);
    expect(span["cost"]).toBeGreaterThan(0);
  });

  test("OTLP: the rest is marked", async () => {
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gemini-2.5-pro",
      "gen_ai.usage.input_tokens": 300_000,
      "gen_ai.usage.output_tokens": 1000,
      "gen_ai.usage.total_tokens": 305_000,
    };
    expect(await throughOtlp(prod, traceOf(attributes))).toMatchObject(marked);
  });

  test("in Gemini's names the rest are thoughts", async () => {
    const usage = { promptTokenCount: 300_000, candidatesTokenCount: 1000, totalTokenCount: 305_000 };
    const span = await roundTrip(prod, { model: "gemini-2.5-pro", usage });
    expect(span).toMatchObject({
      completion_tokens: 5000,
      reasoning_tokens: 4000,
      total_tokens: 305_000,
      unpriced: null,
    });
  });
});

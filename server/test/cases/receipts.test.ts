import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completion } from "../support/chat.ts";
import { answers } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { throughOtlp, traceOf } from "../support/otlp.ts";
import { retrieveSpan, roundTrip, settle } from "../support/spans.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let gateway: TestGateway;
let prod: TestClient;
beforeAll(async () => {
  gateway = await startTestGateway();
  prod = gateway.app.prod;
});
afterAll(() => gateway.stop());

type Receipt = {
  source: { kind: string; name: string | null };
  lines: Array<{ bucket: string; tokens?: number; units?: number; rate: number; amount: number }>;
  adjustments: Row[];
  assumptions: string[];
  unpriced: Row[];
  table_cost?: number;
};

const receiptOf = (span: Row): Receipt => span["cost_details"] as Receipt;
const sumOf = (span: Row): number => receiptOf(span).lines.reduce((sum, { amount }) => sum + amount, 0);

/** Sends a completion with this usage through the gateway and returns its span. */
const called = async (usage: Row, model = "gpt-4o", members: Row = {}): Promise<Row> => {
  gateway.upstream.script(answers(200, completion({ usage })));
  const answer = await prod.post("/api/chat/completions", {
    model,
    messages: [{ role: "user", content: "hi" }],
    ...members,
  });
  expect(answer.status).toBe(200);
  return retrieveSpan(prod, answer.headers.get("x-spanway-log-id"));
};

describe("M1: reasoning that is larger than the completion stays inside if the total says so", () => {
  const usage = {
    prompt_tokens: 1640,
    completion_tokens: 102,
    total_tokens: 1742,
    completion_tokens_details: { reasoning_tokens: 109 },
  };
  const right = { prompt_tokens: 1640, completion_tokens: 102, total_tokens: 1742 };

  test.each<[string, Row]>([
    ["a usage object", { usage }],
    ["own fields", { prompt_tokens: 1640, completion_tokens: 102, total_tokens: 1742, reasoning_tokens: 109 }],
    [
      "a usage object of the Responses API",
      {
        usage: {
          input_tokens: 1640,
          output_tokens: 102,
          total_tokens: 1742,
          output_tokens_details: { reasoning_tokens: 109 },
        },
      },
    ],
  ])("%s", async (_, members) => {
    const span = await roundTrip(prod, { model: "gpt-4o", log_type: "chat", ...members });
    expect(span).toMatchObject({ ...right, cost: 0.00512 });
  });

  test.each<[string, Row]>([
    [
      "OpenTelemetry GenAI",
      {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 1640,
        "gen_ai.usage.output_tokens": 102,
        "gen_ai.usage.reasoning.output_tokens": 109,
        "gen_ai.usage.total_tokens": 1742,
      },
    ],
    [
      "OpenInference",
      {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4o",
        "llm.token_count.prompt": 1640,
        "llm.token_count.completion": 102,
        "llm.token_count.completion_details.reasoning": 109,
        "llm.token_count.total": 1742,
      },
    ],
    [
      "the AI SDK",
      {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.model.id": "gpt-4o",
        "ai.model.provider": "openai.chat",
        "ai.usage.inputTokens": 1640,
        "ai.usage.outputTokens": 102,
        "ai.usage.reasoningTokens": 109,
        "ai.usage.totalTokens": 1742,
      },
    ],
  ])("%s", async (_, attributes) => {
    const span = await throughOtlp(prod, traceOf(attributes));
    expect(span).toMatchObject({ ...right, cost: 0.00512, log_type: "chat" });
  });

  test("a call through the gateway", async () => {
    expect(await called(usage)).toMatchObject({ ...right, cost: 0.00512 });
  });
});

describe("M2: the receipt of a span", () => {
  test("has a line for each bucket, and they add up to the cost", async () => {
    const span = await roundTrip(prod, {
      model: "gpt-4o",
      usage: {
        prompt_tokens: 57,
        completion_tokens: 17,
        total_tokens: 74,
        prompt_tokens_details: { cached_tokens: 32 },
      },
    });
    expect(receiptOf(span)).toMatchObject({
      source: { kind: "price_table", name: expect.stringMatching(/^genai-prices@\S+ openai\/gpt-4o$/) as string },
      lines: [
        { bucket: "input", tokens: 25, rate: 2.5, amount: 0.0000625 },
        { bucket: "cache_read", tokens: 32, rate: 1.25, amount: 0.00004 },
        { bucket: "output", tokens: 17, rate: 10, amount: 0.00017 },
      ],
      unpriced: [],
    });
    expect(sumOf(span)).toBeCloseTo(span["cost"] as number, 12);
  });

  test("is in lists on request", async () => {
    const { json } = await prod.post("/api/request-logs/list/?include_fields=cost_details,cost&page_size=1", {});
    expect((json as { results: Row[] }).results[0]).toHaveProperty("cost_details.lines");
  });

  test("units without a price can be found", async () => {
    const thread_identifier = "unpriced";
    await roundTrip(prod, { model: "gpt-4o", thread_identifier, prompt_tokens: 1, completion_tokens: 1 });
    const span = await roundTrip(prod, {
      model: "gpt-4o",
      thread_identifier,
      prompt_tokens: 10,
      completion_tokens: 10,
      audio_completion_tokens: 4,
    });
    expect(span).toMatchObject({ cost: null, cost_source: null, unpriced: "output_audio" });
    expect(receiptOf(span).unpriced).toMatchObject([{ bucket: "output_audio", quantity: 4 }]);
    await settle(prod);
    const filters = { unpriced: { operator: "not_empty" }, thread_identifier };
    const { json } = await prod.post("/api/request-logs/list/", { filters });
    expect((json as { results: Row[] }).results.map(({ id }) => id)).toEqual([span["id"]]);
  });

  test("of a stated cost says so, with the table's price", async () => {
    const tokens = { model: "gpt-4o", prompt_tokens: 1000, completion_tokens: 100 };
    const near = receiptOf(await roundTrip(prod, { ...tokens, cost: 0.004 }));
    expect(near).toMatchObject({ source: { kind: "stated" }, table_cost: 0.0035, assumptions: [] });
    const far = receiptOf(await roundTrip(prod, { ...tokens, cost: 4 }));
    expect(far.assumptions.join()).toContain("factor of 100");
    expect(receiptOf(await roundTrip(prod, { model: "x", cost: 4 }))).toMatchObject({
      source: { kind: "stated" },
      lines: [],
    });
  });

  test("names the organization's unit prices, and never invents the other one", async () => {
    const span = await roundTrip(prod, {
      model: "mine",
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_unit_price: 2,
    });
    expect(span).toMatchObject({ cost: null, unpriced: "output" });
    expect(receiptOf(span)).toMatchObject({
      source: { kind: "stated_unit_prices" },
      lines: [{ bucket: "input", rate: 2 }],
    });
  });

  test("buckets without a field of their own are accepted in usage_details", async () => {
    const span = await roundTrip(prod, {
      model: "gemini-2.5-flash-image",
      prompt_tokens: 10,
      completion_tokens: 1300,
      usage_details: { image_completion_tokens: 1290 },
    });
    expect(receiptOf(span).lines).toMatchObject([
      { bucket: "input" },
      { bucket: "output_image", tokens: 1290 },
      { bucket: "output" },
    ]);
  });

  test("a span without usage and cost has none", async () => {
    expect(await roundTrip(prod, { model: "gpt-4o", input: "x" })).toMatchObject({ cost: null, cost_details: null });
  });
});

describe("M2: through the gateway", () => {
  test("the region stated by a call is billed, and stays in its usage", async () => {
    const usage = { input_tokens: 20_000, output_tokens: 1000, inference_geo: "us" };
    gateway.upstream.script(
      answers(200, {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-opus-4-6",
        content: [{ type: "text", text: "hi" }],
        stop_reason: "end_turn",
        usage,
      }),
    );
    const messages = [{ role: "user", content: "hi" }];
    const answer = await prod.post("/api/chat/completions", { model: "claude-opus-4-6", messages, max_tokens: 10 });
    expect(answer.json).toHaveProperty("usage.inference_geo", "us");
    const span = await retrieveSpan(prod, answer.headers.get("x-spanway-log-id"));
    expect(span).toMatchObject({ cost: 0.1375, usage: { inference_geo: "us" } });
    expect(receiptOf(span).adjustments).toEqual([{ kind: "region", value: "us", factor: 1.1 }]);
  });

  test("an estimate is marked as one", async () => {
    const span = await called({});
    expect(receiptOf(span).assumptions.join()).toContain("estimate");
  });
});

test("M16: a local model costs nothing, unless it has a price", async () => {
  const tokens = { prompt_tokens: 1000, completion_tokens: 100 };
  const span = await roundTrip(prod, { model: "ollama/gpt-oss-120b", ...tokens });
  expect(span).toMatchObject({ cost: 0, cost_details: { source: { kind: "local" } } });
  const priced = { model: "gpt-oss-120b", provider_id: "ollama", prompt_unit_price: 1, completion_unit_price: 1 };
  expect(await roundTrip(prod, { ...priced, ...tokens })).toMatchObject({ cost: 0.0011 });
  expect(await roundTrip(prod, { model: "google/gemma-3-27b-it", provider_id: "together", ...tokens })).toMatchObject({
    cost: null,
  });
  const own = { model: "lab-own", provider: "ollama", rates: { input: 1, output: 1 } };
  expect((await prod.post("/api/model-prices/", own)).status).toBe(201);
  for (const named of [{ model: "lab-own", provider_id: "ollama" }, { model: "ollama/lab-own" }])
    expect(await roundTrip(prod, { ...named, ...tokens })).toMatchObject({ cost: 0.0011 });
});

test("M17: a tier of unknown price is marked", async () => {
  const span = await called({ prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100, service_tier: "scale" });
  expect(span).toMatchObject({ cost: 0.0035, unpriced: "service_tier:scale" });
});

describe("M17: the tier that a full_response names beside its usage is priced", () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 };
  const ofResponses = { object: "response", usage: { input_tokens: 1000, output_tokens: 10, total_tokens: 1010 } };
  const [standard, priority] = [0.0026, 0.00442];
  test.each<[name: string, body: Row, cost: number]>([
    ["chat", { full_response: { service_tier: "priority", usage } }, priority],
    ["Responses", { full_response: { ...ofResponses, service_tier: "priority" } }, priority],
    ["a usage of its own", { usage, full_response: { service_tier: "priority" } }, priority],
    ["own fields", { ...usage, full_response: { service_tier: "priority" } }, priority],
    [
      "the usage's tier first",
      { full_response: { service_tier: "flex", usage: { ...usage, service_tier: "priority" } } },
      priority,
    ],
    [
      "the request's, where no other is named",
      { full_request: { service_tier: "priority" }, full_response: { usage } },
      priority,
    ],
    [
      "a request that was served by default",
      { full_request: { service_tier: "priority" }, full_response: { service_tier: "default", usage } },
      standard,
    ],
    ["a request for auto", { full_request: { service_tier: "auto" }, full_response: { usage } }, standard],
    ["a request for default", { full_request: { service_tier: "default" }, usage }, standard],
  ])("%s", async (_name, body, cost) => {
    expect(await roundTrip(prod, { model: "gpt-4o", ...body })).toMatchObject({ cost });
  });

  test("one without a price is marked", async () => {
    const span = await roundTrip(prod, { model: "gpt-4o", full_response: { service_tier: "scale", usage } });
    expect(span).toMatchObject({ cost: standard, unpriced: "service_tier:scale" });
  });
});

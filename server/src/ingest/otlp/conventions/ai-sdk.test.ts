import { describe, expect, test } from "vitest";
import { domainLimits } from "../../../domain/limits.ts";
import { createPriceBook } from "../../../pricing/price-book.ts";
import { createNestedJson } from "../../../validation/field-readers.ts";
import { normalizeSpan } from "../../normalize/normalize.ts";
import { json, mapped } from "../map-span.fixture.ts";

describe("the AI SDK", () => {
  test.each(["ai.rerank", "ai.rerank.doRerank"])("%s: documents as input, a ranking as output", (operation) => {
    const body = mapped({
      "ai.operationId": operation,
      "ai.model.id": "rerank-v3",
      "ai.documents": [json("a"), json("b")],
      "ai.ranking": [json({ index: 1, relevanceScore: 0.9 })],
    });
    expect(body).toMatchObject({ log_type: "task", input: ["a", "b"], output: [{ index: 1, relevanceScore: 0.9 }] });
  });

  test.each(["ai.telemetry.metadata.", "ai.settings.context."])("users and threads under %s*", (prefix) => {
    const body = mapped({ [`${prefix}userId`]: "u1", [`${prefix}sessionId`]: "s1", [`${prefix}plan`]: "pro" });
    expect(body).toMatchObject({ customer_identifier: "u1", thread_identifier: "s1", metadata: { plan: "pro" } });
  });

  test("files of a response are parts of it", () => {
    const body = mapped({
      "ai.operationId": "ai.generateText.doGenerate",
      "ai.response.text": "Here.",
      "ai.response.files": json([{ type: "file", mediaType: "image/png", data: "AA" }]),
    });
    expect(body["completion_message"]).toEqual({
      role: "assistant",
      content: [
        { type: "text", text: "Here." },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
      ],
    });
  });

  test("a prompt managed in Langfuse", () => {
    const prompt = { "ai.telemetry.metadata.langfusePrompt": json({ name: "greeting", version: 3 }) };
    expect(mapped(prompt)).toMatchObject({ prompt_name: "greeting", prompt_version_number: 3 });
  });
});

const prices = createPriceBook({ maxModels: 100 });
const origin = {
  organization_id: "o",
  environment: "prod" as const,
  organization_key_id: "k",
  organization_key_name: "k",
  log_method: "tracing_integration",
};

/** Tokens as `fresh read written output`, and their cost in millionths of a US dollar. */
function counted(attributes: Record<string, unknown>): { tokens: string; cost: number } {
  const nested = createNestedJson(domainLimits.bodyNodes);
  const result = normalizeSpan(mapped(attributes), origin, { receivedNs: 1n, prices, nested });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  const { prompt_tokens, prompt_cache_hit_tokens, prompt_cache_creation_tokens, completion_tokens, cost } =
    result.span.row;
  const [read, written] = [Number(prompt_cache_hit_tokens ?? 0), Number(prompt_cache_creation_tokens ?? 0)];
  return {
    tokens: [Number(prompt_tokens ?? 0) - read - written, read, written, completion_tokens].join(" "),
    cost: Number(((cost ?? 0) * 1e6).toFixed(6)),
  };
}

const claude = { "ai.model.id": "claude-sonnet-4-5", "ai.model.provider": "anthropic.messages" };
const call = { ...claude, "ai.operationId": "ai.generateText.doGenerate", "gen_ai.system": "anthropic.messages" };
const metadata = (of: Record<string, unknown>) => ({ "ai.response.providerMetadata": json(of) });
const raw = {
  input_tokens: 5000,
  cache_creation_input_tokens: 500,
  cache_read_input_tokens: 1000,
  cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 0 },
  output_tokens: 100,
};
const named = (input: string, n: number, output: string) => ({
  [`ai.usage.${input}`]: n,
  [`ai.usage.${output}`]: 100,
  "gen_ai.usage.input_tokens": n,
  "gen_ai.usage.output_tokens": 100,
});
const old = named("promptTokens", 5000, "completionTokens");
const fresh = { ...named("inputTokens", 5000, "outputTokens"), "ai.usage.totalTokens": 5100 };
const whole = { ...named("inputTokens", 6500, "outputTokens"), "ai.usage.totalTokens": 6600 };
const split = {
  "ai.usage.inputTokenDetails.noCacheTokens": 5000,
  "ai.usage.inputTokenDetails.cacheReadTokens": 1000,
  "ai.usage.inputTokenDetails.cacheWriteTokens": 500,
  "ai.usage.cachedInputTokens": 1000,
};
const read = { "ai.usage.cachedInputTokens": 1000 };
const ofVersion4 = metadata({ anthropic: { cacheCreationInputTokens: 500, cacheReadInputTokens: 1000 } });
const ofVersion5 = metadata({ anthropic: { usage: raw, cacheCreationInputTokens: 500 } });
const bedrock = {
  "ai.model.provider": "amazon-bedrock",
  "ai.model.id": "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
  "gen_ai.system": "amazon-bedrock",
};
const written = { usage: { cacheWriteInputTokens: 500 } };

/** 5000 fresh, 1000 read, 500 written for five minutes, 100 out, at 3, 0.30, 3.75 and 15 USD per million. */
const right = { tokens: "5000 1000 500 100", cost: 18_675 };

describe("M4: the AI SDK's input with and without cached tokens", () => {
  test.each<[name: string, attributes: Record<string, unknown>]>([
    ["ai 4", { ...call, ...old, ...ofVersion4 }],
    ["ai 5, generateText", { ...call, ...old, ...ofVersion5 }],
    ["ai 5, streamText", { ...call, ...fresh, ...read, ...ofVersion5 }],
    ["ai 6", { ...call, ...whole, ...split, ...ofVersion5 }],
    ["ai 6 that records no outputs", { ...call, ...whole, ...split }],
    ["ai 6, streamObject, which states no details", { ...call, ...whole, ...read, ...ofVersion5 }],
    [
      "ai 6, generateObject under the old names",
      { ...call, ...named("promptTokens", 6500, "completionTokens"), ...ofVersion5 },
    ],
    ["counts as text", { ...call, "ai.usage.promptTokens": "5000", "ai.usage.completionTokens": "100", ...ofVersion4 }],
    [
      "Bedrock, ai 4",
      {
        ...call,
        ...bedrock,
        ...old,
        ...metadata({ bedrock: { usage: { cacheReadInputTokens: 1000, cacheWriteInputTokens: 500 } } }),
      },
    ],
    ["Bedrock, ai 5", { ...call, ...bedrock, ...fresh, ...read, ...metadata({ bedrock: written }) }],
    ["Bedrock, ai 6", { ...call, ...bedrock, ...whole, ...split, ...metadata({ bedrock: written }) }],
    ["Vertex, ai 5", { ...call, "ai.model.provider": "vertex.anthropic.messages", ...fresh, ...read, ...ofVersion5 }],
    [
      "the AI gateway, ai 5",
      {
        ...call,
        "ai.model.provider": "gateway",
        "ai.model.id": "anthropic/claude-sonnet-4-5",
        ...fresh,
        ...read,
        ...metadata({ gateway: { cost: "0.018675" }, anthropic: { usage: raw } }),
      },
    ],
  ])("%s", (_name, attributes) => {
    expect(counted(attributes)).toEqual(right);
  });

  test("ai 5 without metadata does not know about cache writes", () => {
    expect(counted({ ...call, ...fresh, ...read })).toEqual({ tokens: "5000 1000 0 100", cost: 16_800 });
  });

  test("a one-hour cache write has the one-hour price", () => {
    const hour = { ...raw, cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 500 } };
    const cost = 18_675 - 500 * 3.75 + 500 * 6;
    expect(counted({ ...call, ...old, ...metadata({ anthropic: { usage: hour } }) })).toEqual({ ...right, cost });
  });

  test("the sum of several steps is not compared with the last one's usage", () => {
    const sums = { ...named("inputTokens", 9000, "outputTokens"), "ai.usage.cachedInputTokens": 3000 };
    expect(counted({ ...call, ...sums, ...ofVersion5 }).tokens).toBe("9000 3000 500 100");
  });
});

describe("M4: providers that include cached tokens", () => {
  const openai = { "ai.model.id": "gpt-4o-mini", "ai.model.provider": "openai.chat" };
  const counts = named("promptTokens", 120, "completionTokens");
  test.each<[name: string, attributes: Record<string, unknown>]>([
    [
      "openai, ai 4",
      { ...openai, ...counts, ...metadata({ openai: { cachedPromptTokens: 64, reasoningTokens: 12 } }) },
    ],
    ["openai, ai 5", { ...openai, ...named("inputTokens", 120, "outputTokens"), "ai.usage.cachedInputTokens": 64 }],
    [
      "deepseek",
      {
        ...openai,
        "ai.model.provider": "deepseek.chat",
        ...counts,
        ...metadata({ deepseek: { promptCacheHitTokens: 64, promptCacheMissTokens: 56 } }),
      },
    ],
    [
      "xai",
      { ...openai, "ai.model.provider": "xai.chat", ...counts, ...metadata({ xai: { cachedPromptTokens: 64 } }) },
    ],
    [
      "any provider with OpenAI's API",
      {
        ...openai,
        "ai.model.provider": "together.chat",
        ...counts,
        ...metadata({ together: { cachedPromptTokens: 64 } }),
      },
    ],
    [
      "google, ai 5",
      {
        ...openai,
        "ai.model.provider": "google.generative-ai",
        ...counts,
        ...metadata({
          google: {
            usageMetadata: {
              promptTokenCount: 120,
              cachedContentTokenCount: 64,
              candidatesTokenCount: 100,
              totalTokenCount: 220,
            },
          },
        }),
      },
    ],
  ])("%s", (_name, attributes) => {
    expect(counted(attributes).tokens).toBe("56 64 0 100");
  });

  test("google counts reasoning outside the output, as its total shows", () => {
    const attributes = {
      ...openai,
      "ai.model.provider": "google.generative-ai",
      ...named("inputTokens", 120, "outputTokens"),
      "ai.usage.totalTokens": 232,
      "ai.usage.reasoningTokens": 12,
      "ai.usage.cachedInputTokens": 64,
    };
    expect(counted(attributes).tokens).toBe("56 64 0 112");
  });

  test.each([
    null,
    "text",
    [],
    { anthropic: null },
    { anthropic: { usage: "x", cacheCreationInputTokens: null } },
    { a: { usage: { input_tokens: -1 } } },
  ])("metadata without usage: %j", (given) => {
    expect(counted({ ...openai, ...counts, ...metadata(given as Record<string, unknown>) }).tokens).toBe("120 0 0 100");
  });
});

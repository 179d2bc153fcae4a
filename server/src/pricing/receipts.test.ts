import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalizeUsage, type RawUsage } from "../domain/usage.ts";
import { splitTokens } from "./buckets.ts";
import { packagedTable } from "./genai-table.ts";
import { createPriceBook, type Price } from "./price-book.ts";
import { readReceipt } from "./receipt.ts";
import { readUsageObject } from "./usage-object.ts";

const book = createPriceBook({ maxModels: 100 });
const timestampNs = BigInt(Date.UTC(2026, 5, 1)) * 1_000_000n;

const priceOf = (model: string, raw: RawUsage, provider = "") => {
  const usage = normalizeUsage(raw);
  if (!usage) throw new Error("no usage");
  return book.price({ organizationId: "o", model, provider, usage, timestampNs });
};

const receiptOf = ({ receipt, version }: Price) => readReceipt(receipt, "computed", version);

test("all tables of the package are used", () => {
  const source = readFileSync(
    createRequire(import.meta.url)
      .resolve("@pydantic/genai-prices")
      .replace(/cjs$/, "js"),
    "utf8",
  );
  const ids = [...source.matchAll(/id: "([^"]+)",\s+name: "[^"]*",\s+(?:pricing_urls|api_pattern)/g)].map(
    ([, id]) => id,
  );
  expect(ids.length).toBeGreaterThan(20);
  for (const id of ids) expect(packagedTable().hasProvider(id ?? "")).toBe(true);
});

describe("M2: counts that cannot be read are reported", () => {
  const of = (members: Record<string, unknown>) => {
    const usage = readUsageObject(members);
    return usage && book.price({ organizationId: "o", model: "gpt-4o", provider: "", usage, timestampNs });
  };

  test.each([1e15, -5000, 10.5, "many", "-1", Number.MAX_VALUE])(
    "%s prompt tokens make the cost of the whole call unknown",
    (count) => {
      for (const [side, other, name] of [
        ["prompt_tokens", "completion_tokens", "input"],
        ["completion_tokens", "prompt_tokens", "output"],
        ["input_tokens", "output_tokens", "input"],
      ] as const) {
        const price = of({ [side]: count, [other]: 100 });
        expect([price?.costUsd, price?.unpriced], side).toEqual([undefined, name]);
        expect(price && receiptOf(price)?.unpriced).toEqual([
          { bucket: name, quantity: 0, reason: "What was stated is no count of tokens." },
        ]);
      }
      expect(of({ prompt_tokens: count, completion_tokens: count })).toBeUndefined();
    },
  );

  test("a side that was not stated is not an error", () => {
    expect(of({ prompt_tokens: 100 })?.costUsd).toBeCloseTo(0.00025);
    expect(of({ prompt_tokens: null, completion_tokens: 100 })?.unpriced).toBe("");
  });

  const assumed = "A detail is larger than what it is a part of: it is assumed to be counted beside it.";
  test.each([
    [
      { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 500 } },
      true,
    ],
    [{ prompt_tokens: 100, completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 80 } }, true],
    [
      {
        prompt_tokens: 1640,
        completion_tokens: 102,
        total_tokens: 1742,
        completion_tokens_details: { reasoning_tokens: 109 },
      },
      false,
    ],
    [
      { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 60 } },
      false,
    ],
    [{ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 500 }, false],
  ])("the receipt of %j states whether a place was assumed: %s", (members, isAssumed) => {
    const price = of(members);
    expect((price && receiptOf(price)?.assumptions)?.includes(assumed)).toBe(isAssumed);
  });
});

describe("M2: a counted bucket is priced at its own rate, or the cost is unknown", () => {
  const inNovember = BigInt(Date.UTC(2026, 10, 29)) * 1_000_000n;
  const costs = (model: string, members: Record<string, unknown>, provider = "") => {
    const usage = readUsageObject(members);
    if (!usage) throw new Error("no usage");
    return book.price({ organizationId: "o", model, provider, usage, timestampNs: inNovember });
  };

  test.each([
    [
      "OpenAI's cache writes in chat",
      "gpt-5.6-sol",
      {
        prompt_tokens: 20_000,
        completion_tokens: 100,
        total_tokens: 20_100,
        prompt_tokens_details: { cached_tokens: 4000, cache_write_tokens: 15_000 },
      },
      0.0826,
    ],
    [
      "of Responses",
      "gpt-5.6-sol",
      {
        input_tokens: 20_000,
        output_tokens: 100,
        total_tokens: 20_100,
        input_tokens_details: { cached_tokens: 4000, cache_write_tokens: 15_000 },
      },
      0.0826,
    ],
    [
      "speech without a rate in the table",
      "gpt-4o-audio-preview",
      {
        prompt_tokens: 600,
        completion_tokens: 400,
        total_tokens: 1000,
        prompt_tokens_details: { audio_tokens: 500 },
        completion_tokens_details: { audio_tokens: 350 },
      },
      0.04875,
    ],
    [
      "the region that served the call",
      "claude-opus-4-6",
      { input_tokens: 20_000, output_tokens: 1000, inference_geo: "us" },
      0.1375,
    ],
    [
      "a Bedrock endpoint without a region",
      "global.anthropic.claude-opus-4-6-v1",
      { input_tokens: 20_000, output_tokens: 1000, inference_geo: "not_available" },
      0.125,
    ],
    ["everywhere", "claude-opus-4-6", { input_tokens: 20_000, output_tokens: 1000, inference_geo: "global" }, 0.125],
    [
      "Gemini's speech, partly cached",
      "gemini-2.5-flash",
      {
        promptTokenCount: 1000,
        candidatesTokenCount: 10,
        totalTokenCount: 1010,
        cachedContentTokenCount: 300,
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 400 },
          { modality: "AUDIO", tokenCount: 600 },
        ],
        cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 300 }],
      },
      (400 * 0.3 + 300 * 1 + 300 * 0.1 + 10 * 2.5) / 1e6,
    ],
    [
      "Gemini's images with separate reasoning",
      "gemini-2.5-flash-image",
      {
        promptTokenCount: 10,
        candidatesTokenCount: 1290,
        thoughtsTokenCount: 20,
        totalTokenCount: 1320,
        candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1290 }],
      },
      (10 * 0.3 + 20 * 2.5 + 1290 * 30) / 1e6,
    ],
    [
      "Bedrock's writes by lifetime",
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      {
        inputTokens: 25,
        outputTokens: 17,
        totalTokens: 74,
        cacheReadInputTokens: 20,
        cacheWriteInputTokens: 12,
        cacheDetails: [{ ttl: "1h", inputTokens: 12 }],
      },
      (25 * 3.3 + 20 * 0.33 + 12 * 6.6 + 17 * 16.5) / 1e6,
    ],
  ])("%s: %s", (_, model, members, costUsd) => {
    const price = costs(model, members);
    expect(price.costUsd).toBeCloseTo(costUsd, 12);
    const lines = receiptOf(price)?.lines ?? [];
    expect(lines.reduce((sum, { amount }) => sum + amount, 0)).toBeCloseTo(costUsd, 12);
    expect(price.unpriced).toBe("");
  });

  test.each([
    ["speech output of a text model", "gpt-4o", { completion_tokens_details: { audio_tokens: 5 } }, "output_audio"],
    [
      "a cache at a provider without a cache rate",
      "gpt-4",
      { prompt_tokens_details: { cached_tokens: 5 } },
      "cache_read",
    ],
    [
      "images from a model without image output",
      "gemini-2.5-pro",
      { completion_tokens_details: { image_tokens: 5 } },
      "output_image",
    ],
  ])("%s makes the cost unknown", (_, model, details, bucket) => {
    const price = costs(model, { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20, ...details });
    expect(price.costUsd).toBeUndefined();
    expect(price.unpriced).toBe(bucket);
    expect(receiptOf(price)?.unpriced).toEqual([
      { bucket, quantity: 5, reason: expect.stringContaining("no rate") as string },
    ]);
  });

  test("the receipt of a cache write of unknown lifetime states the assumption", () => {
    const sent = { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 5 };
    expect(receiptOf(costs("claude-sonnet-4-5", sent))?.assumptions.join()).toContain("5 minutes");
    const expected = { ...sent, cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 0 } };
    expect(receiptOf(costs("claude-sonnet-4-5", expected))?.assumptions.join()).not.toContain("5 minutes");
  });
});

describe("M16: the price belongs to the pair of provider and model", () => {
  const tokens = { input: 1_000_000, output: 1_000_000 };

  test.each([
    ["gpt-oss-120b", "ollama"],
    ["ollama/gpt-oss-120b", ""],
    ["vllm/deepseek-r1", ""],
    ["deepseek-r1", "hosted_vllm"],
    ["gpt-4o", "LM_Studio"],
    ["llama-3.3-70b", "llama.cpp"],
  ])("%s of %s runs on the user's own machine", (model, provider) => {
    expect(priceOf(model, tokens, provider)).toMatchObject({ costUsd: 0, version: "local provider" });
  });

  test.each([
    ["openai/gpt-oss-120b", "together", 0.75],
    ["together_ai/openai/gpt-oss-120b", "", 0.75],
    ["openai/gpt-oss-120b", "groq", 0.75],
    ["gpt-oss-120b", "cerebras", 1.1],
  ])("%s at %s has that provider's rates", (model, provider, costUsd) => {
    expect(priceOf(model, tokens, provider).costUsd).toBeCloseTo(costUsd, 12);
  });

  test.each([
    ["google/gemma-3-27b-it", "together"],
    ["google/gemma-3-27b-it", ""],
    ["meta-llama/llama-3.3-70b", "deepinfra"],
    ["claude-sonnet-4-5", "deepinfra"],
    ["anthropic/claude-sonnet-4-5", "deepinfra"],
    ["gpt-4o", "anthropic"],
    ["gpt-oss-120b", ""],
    ["gpt-oss-120b", "my-own-proxy"],
    ["llama-3.3-70b", ""],
    ["qwen-max", "openai"],
    ["gpt-oss:120b-cloud", "ollama"],
    ["mistral-ocr-latest", "mistral"],
    ["whisper-1", "openai"],
    ["voxtral-mini-2602", "mistral"],
    ["tts-1", "openai"],
  ])("%s at %s has no price, rather than another's", (model, provider) => {
    const price = priceOf(model, tokens, provider);
    expect(price.costUsd).toBeUndefined();
    expect(price.unpriced).not.toBe("");
  });

  test("units that were counted are priced", () => {
    expect(priceOf("mistral-ocr-2512", { pages: 10 }, "mistral").costUsd).toBeCloseTo(0.02, 12);
    expect(priceOf("whisper-1", { audioSeconds: 60, output: 20 }, "openai").costUsd).toBeCloseTo(0.006, 12);
    expect(priceOf("tts-1", { characters: 1000 }, "openai").costUsd).toBeCloseTo(0.015, 12);
  });
});

describe("M17: service tiers are priced at every provider, or marked", () => {
  const tokens = { input: 1000, output: 100 };

  test.each([
    ["gpt-4.1", "azure", "priority", 1.75],
    ["gpt-5", "azure", "batch", 0.5],
    ["openai.gpt-oss-120b-1:0", "bedrock", "priority", 1.75],
    ["amazon.nova-pro-v1:0", "bedrock", "flex", 0.5],
    ["gemini-2.5-pro", "vertex_ai", "priority", 1.8],
    ["claude-sonnet-4-5", "vertex_ai", "batch", 0.5],
    ["openai/gpt-oss-120b", "groq", "flex", 1],
    ["accounts/fireworks/models/gpt-oss-120b", "fireworks", "priority", 1.2],
    ["accounts/fireworks/models/muse-spark-open", "fireworks", "priority", 1.5],
    ["claude-opus-4-8", "anthropic", "fast", 2],
  ])("%s at %s, %s: %f times", (model, provider, serviceTier, factor) => {
    const standard = priceOf(model, tokens, provider).costUsd ?? Number.NaN;
    const price = priceOf(model, { ...tokens, serviceTier }, provider);
    expect(price.costUsd).toBeCloseTo(standard * factor, 12);
    expect(price.unpriced).toBe("");
    expect(receiptOf(price)?.adjustments).toEqual([{ kind: "service_tier", value: serviceTier, factor }]);
  });

  test.each([
    ["gpt-5", "openai", "scale"],
    ["gpt-5", "openai", "constructor"],
    ["claude-sonnet-4-5", "anthropic", "priority"],
    ["openai/gpt-oss-120b", "groq", "performance"],
    ["command-r", "cohere", "priority"],
  ])("%s at %s, %s: the standard price, marked", (model, provider, serviceTier) => {
    const price = priceOf(model, { ...tokens, serviceTier }, provider);
    expect(price.costUsd).toBe(priceOf(model, tokens, provider).costUsd);
    expect(receiptOf(price)?.unpriced).toMatchObject([{ bucket: `service_tier:${serviceTier}` }]);
  });
});

describe("M12: the charge that the provider states", () => {
  const tokens = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
  const billed = (members: object) => {
    const usage = readUsageObject({ ...tokens, ...members });
    if (!usage) throw new Error("no usage");
    return book.price({ organizationId: "o", model: "openai/gpt-4o", provider: "openrouter", usage, timestampNs });
  };

  test("0 is a price if it is the whole bill", () => {
    expect(billed({ cost: 0, is_byok: false })).toMatchObject({ costUsd: 0, version: "stated by the provider" });
    expect(billed({ cost: 0, is_byok: true, cost_details: { upstream_inference_cost: 0.5 } }).costUsd).toBe(0.5);
    expect(billed({ cost: 0 }).version).toContain("openrouter/openai/gpt-4o");
    expect(billed({ cost: 0, is_byok: true }).version).toContain("openrouter/openai/gpt-4o");
  });

  test("an absurd bill is kept, and marked", () => {
    const absurd = billed({ cost: 5, is_byok: false });
    expect(absurd.costUsd).toBe(5);
    expect(receiptOf(absurd)).toMatchObject({
      table_cost: 0.0035,
      assumptions: [expect.stringContaining("factor of 100")],
    });
    expect(receiptOf(billed({ cost: 0.004, is_byok: false }))?.assumptions).toEqual([]);
  });
});

test("the buckets of a usage are disjoint and add up, and so do the lines of its receipt", () => {
  const count = fc.option(fc.nat(50_000), { nil: undefined });
  const raw = fc.record({
    input: fc.nat(300_000),
    output: fc.nat(50_000),
    cacheRead: count,
    cacheWrite: count,
    cacheWrite1h: count,
    reasoning: count,
    audioInput: count,
    imageInput: count,
    videoInput: count,
    audioCacheRead: count,
    imageCacheRead: count,
    audioOutput: count,
    imageOutput: count,
    convention: fc.constantFrom("inclusive" as const, "exclusive" as const),
  });
  fc.assert(
    fc.property(raw, fc.boolean(), (sent, pricesReasoning) => {
      const usage = normalizeUsage(sent);
      if (!usage) return;
      const sums = { in: 0, out: 0 };
      splitTokens(usage, pricesReasoning, (bucket, tokens) => {
        expect(tokens).toBeGreaterThan(0);
        sums[bucket.startsWith("output") ? "out" : "in"] += tokens;
      });
      expect(sums).toEqual({ in: usage.input, out: usage.output });
      const price = book.price({
        organizationId: "o",
        model: "gemini-3.1-flash-live-preview",
        provider: "google",
        usage,
        timestampNs,
      });
      const lines = receiptOf(price)?.lines ?? [];
      const sum = lines.reduce((total, { amount }) => total + amount, 0);
      expect(price.costUsd ?? sum).toBeCloseTo(sum, 9);
    }),
    { numRuns: 300 },
  );
});

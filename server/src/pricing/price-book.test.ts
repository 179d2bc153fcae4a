import { readFileSync } from "node:fs";
import { calcPrice } from "@pydantic/genai-prices";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalizeUsage, type RawUsage } from "../domain/usage.ts";
import { priceTableVersion } from "./genai-table.ts";
import { createPriceBook } from "./price-book.ts";
import { readUsageObject } from "./usage-object.ts";

const book = createPriceBook({ maxModels: 100 });
const timestampNs = BigInt(Date.UTC(2026, 5, 1)) * 1_000_000n;

const priceOf = (model: string, raw: RawUsage, provider = "") => {
  const usage = normalizeUsage(raw);
  if (!usage) throw new Error("no usage");
  return book.price({ organizationId: "o", model, provider, usage, timestampNs });
};

test("the table's version is the installed one", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    dependencies: Record<string, string>;
  };
  expect(priceTableVersion).toBe(`genai-prices@${manifest.dependencies["@pydantic/genai-prices"]}`);
});

test("a call's cost is the sum of its disjoint buckets", () => {
  // gpt-4o: $2.50 fresh, $1.25 cached, $10 output per million.
  expect(priceOf("gpt-4o", { input: 57, cacheRead: 32, output: 17, total: 74 }).costUsd).toBeCloseTo(
    (25 * 2.5 + 32 * 1.25 + 17 * 10) / 1e6,
    12,
  );
  // claude-sonnet-4-5: $3 fresh, $0.30 read, $3.75 5-minute write, $6 1-hour write, $15 output.
  expect(
    priceOf("claude-sonnet-4-5", {
      input: 25,
      cacheRead: 20,
      cacheWrite5m: 12,
      cacheWrite1h: 8,
      output: 17,
      convention: "exclusive",
    }).costUsd,
  ).toBeCloseTo((25 * 3 + 20 * 0.3 + 12 * 3.75 + 8 * 6 + 17 * 15) / 1e6, 12);
});

describe("agrees with the table's own calculation", () => {
  test.each(["gpt-4o", "gpt-5.6-sol", "claude-sonnet-4-5", "gemini-2.5-pro", "gpt-5.4", "gpt-4.1-mini"])(
    "for %s, below and beyond its tiers",
    (model) => {
      const tokens = fc.nat(400_000);
      fc.assert(
        fc.property(tokens, tokens, tokens, tokens, (fresh, cacheRead, cacheWrite, output) => {
          const input = fresh + cacheRead + cacheWrite;
          const ours = priceOf(model, { input, cacheRead, cacheWrite, output, total: input + output });
          const theirs = calcPrice(
            {
              input_tokens: input,
              cache_read_tokens: cacheRead,
              cache_write_tokens: cacheWrite,
              output_tokens: output,
            },
            model,
            { timestamp: new Date(Number(timestampNs / 1_000_000n)) },
          );
          expect(ours.costUsd).toBeCloseTo(theirs?.total_price ?? Number.NaN, 9);
        }),
        { numRuns: 40 },
      );
    },
  );
});

test.each([
  ["gpt-4o", "", "openai/gpt-4o"],
  ["gpt-4o", "azure", "azure/gpt-4o"],
  ["azure/gpt-4o", "", "azure/gpt-4o"],
  ["openai/gpt-4o-mini", "", "openai/gpt-4o-mini"],
  ["openai/gpt-4o", "openrouter", "openrouter/openai/gpt-4o"],
  ["gpt-4o", "my-own-proxy", "openai/gpt-4o"],
  ["gemini-2.5-flash", "vertex_ai", "google/gemini-2.5-flash"],
  ["text-embedding-3-small", "", "openai/text-embedding-3-small"],
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", "aws/regional.anthropic.claude-sonnet-4-5-20250929-v1:0"],
])("model %s of provider '%s' is %s", (model, provider, entry) => {
  expect(priceOf(model, { input: 10, output: 0 }, provider).version).toBe(`${priceTableVersion} ${entry}`);
});

test("unknown is not free: no model, no table entry, no usage", () => {
  expect(priceOf("", { input: 1, output: 1 }).costUsd).toBeUndefined();
  expect(priceOf("no-such-model", { input: 1, output: 1 }).costUsd).toBeUndefined();
  expect(priceOf("gpt-4o", { total: 12 }).costUsd).toBeUndefined();
  expect(priceOf("gpt-4o", { input: 0, output: 0 }).costUsd).toBe(0);
});

describe("a service tier in the response determines the price of tokens", () => {
  const tokens = { input: 1000, output: 100 };

  test.each([
    ["gpt-5", "flex", 0.5],
    ["gpt-5", "batch", 0.5],
    ["gpt-5", "priority", 2],
    ["gpt-5", "fast", 2],
    ["gpt-5.5", "priority", 2.5],
    ["gpt-4.1-mini", "priority", 1.75],
    ["gpt-4o-mini", "priority", 5 / 3],
    ["claude-sonnet-4-5", "batch", 0.5],
    ["claude-opus-5", "batch", 0.5],
    ["claude-opus-5", "fast", 2],
    ["claude-opus-4-6", "fast", 6],
    ["gemini-2.5-flash", "priority", 1.8],
    ["gemini-2.5-flash", "flex", 0.5],
    ["gpt-6-astra", "ultrafast", 6],
    ["gpt-6.1-sol", "ultrafast", 6],
  ])("%s, %s: %f times", (model, serviceTier, factor) => {
    const standard = priceOf(model, tokens);
    const price = priceOf(model, { ...tokens, serviceTier });
    expect(price.costUsd).toBeCloseTo((standard.costUsd ?? Number.NaN) * factor, 12);
    expect(price.version).toBe(`${standard.version} ${serviceTier}`);
  });

  test.each(["default", "standard", "auto", "on_demand"])("%s is the standard tier", (tier) => {
    expect(priceOf("gpt-5", { ...tokens, serviceTier: tier })).toEqual(priceOf("gpt-5", tokens));
  });

  test.each([
    ["gemini-3.1-pro-preview", "flex", 0.2],
    ["gemini-pro-latest", "batch", 0.2],
    ["gemini-2.5-pro", "flex", 0.125],
    ["gemini-3.5-flash", "flex", 0.075],
    ["gemini-3.1-pro-preview", "priority", 0.36],
  ])("%s, %s: cached tokens cost %f", (model, serviceTier, rate) => {
    const cached = { input: 100_000, cacheRead: 100_000, output: 0 };
    expect(priceOf(model, { ...cached, serviceTier }).costUsd).toBeCloseTo(rate / 10, 12);
  });

  test("also beyond a size tier", () => {
    const long = { input: 300_000, output: 100 };
    const standard = priceOf("gpt-5.4", long).costUsd ?? Number.NaN;
    expect(standard).toBeGreaterThan(300_000 * 2.5e-6 + 100 * 15e-6);
    expect(priceOf("gpt-5.4", { ...long, serviceTier: "flex" }).costUsd).toBeCloseTo(standard / 2, 12);
  });
});

describe("charges other than tokens", () => {
  const tokens = { input: 1000, output: 100 };
  const beside = (model: string, raw: RawUsage, provider = "") =>
    (priceOf(model, { ...tokens, ...raw }, provider).costUsd ?? Number.NaN) -
    (priceOf(model, tokens, provider).costUsd ?? Number.NaN);

  test.each([
    ["claude-sonnet-4-5", 2, 0.02],
    ["gpt-5", 3, 0.03],
    // Per query from the third generation on, per prompt before it.
    ["gemini-3-pro-preview", 3, 0.042],
    ["gemini-4-argon", 3, 0.042],
    ["gemini-flash-latest", 3, 0.042],
    ["gemini-2.5-flash", 3, 0.035],
    ["gpt-6.1-sol", 3, 0.03],
    ["claude-haiku-5-5", 3, 0.03],
    ["o3-deep-research", 3, 0.03],
    ["gemini-2.5-flash", 0, 0],
    // These have no known price.
    ["deepseek-chat", 3, 0],
  ])("%s searches the web %i times: %f USD", (model, webSearches, costUsd) => {
    expect(beside(model, { webSearches })).toBeCloseTo(costUsd, 12);
  });

  test("searches cost the same in every tier", () => {
    const claude = priceOf("claude-sonnet-4-5", { ...tokens, webSearches: 2, serviceTier: "batch" });
    expect(claude.costUsd).toBeCloseTo((1000 * 3 + 100 * 15) / 2e6 + 0.02, 12);
  });

  test("models that search for every request charge a fee per request", () => {
    expect(priceOf("gpt-4o-search-preview", tokens).costUsd).toBeCloseTo(0.025 + (1000 * 2.5 + 100 * 10) / 1e6, 12);
    expect(priceOf("gpt-5-search-api-2025-10-14", { ...tokens, webSearches: 1 }).costUsd).toBeCloseTo(
      0.01 + (1000 * 1.25 + 100 * 10) / 1e6,
      12,
    );
    // The fee per request does not replace the price of tokens.
    expect(priceOf("sonar", { input: 10_000, output: 1000 }, "perplexity").costUsd).toBeCloseTo(0.012 + 0.011, 12);
  });
});

test("stated unit prices, USD per million tokens, take precedence over the table", () => {
  const usage = normalizeUsage({ input: 1000, output: 100 });
  if (!usage) throw new Error("no usage");
  expect(
    book.price({
      organizationId: "o",
      model: "gpt-4o",
      provider: "",
      usage,
      timestampNs,
      unitPrices: { prompt: 4, completion: 20 },
    }),
  ).toMatchObject({ costUsd: (1000 * 4 + 100 * 20) / 1e6, version: "stated unit prices" });
});

test("names from callers are safe as keys", () => {
  const odd = ["constructor", "__proto__", "toString", "hasOwnProperty", "name", "length"];
  for (const provider of ["", "azure", "google", ...odd]) {
    for (const model of [...odd, ...odd.map((name) => `openai/${name}`)]) {
      expect(priceOf(model, { input: 1, output: 1 }, provider).costUsd).toBeUndefined();
    }
    for (const model of odd) {
      expect(
        priceOf(`${model}/gpt-4o`, { input: 1, output: 1, serviceTier: model, region: model }, provider),
      ).toBeDefined();
    }
  }
});

test.each(["constructor", "toString", "__proto__"])("a traffic type called %s is not a tier", (trafficType) => {
  const usage = readUsageObject({ promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2, trafficType });
  expect(usage?.serviceTier).toBeUndefined();
});

test("model names from callers do not grow memory without bound", () => {
  for (let i = 0; i < 1000; i += 1) expect(priceOf(`invented-${i}`, { input: 1, output: 1 }).costUsd).toBeUndefined();
  expect(priceOf("gpt-4o", { input: 1, output: 1 }).costUsd).toBeDefined();
});

test("a model has the price of each provider, in any order and with few cached models", () => {
  const usage = normalizeUsage({ input: 1_000, output: 100 });
  if (!usage) throw new Error("no usage");
  const calls = ["gpt-4o", "openai/gpt-4o", "invented", "gpt-4o-mini"].flatMap((model) =>
    ["openai", "", "Azure", "openrouter"].map((provider) => ({
      organizationId: "o",
      model,
      provider,
      usage,
      timestampNs,
    })),
  );
  const alone = calls.map((call) => createPriceBook({ maxModels: 1 }).price(call));
  expect(new Set(alone.map((price) => price.version)).size).toBeGreaterThan(4);
  for (const maxModels of [1, 3, 100]) {
    const shared = createPriceBook({ maxModels });
    for (let round = 0; round < 2; round += 1) expect(calls.map((call) => shared.price(call))).toEqual(alone);
  }
});

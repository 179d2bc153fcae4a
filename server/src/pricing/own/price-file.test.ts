import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readPriceFile } from "./price-file.ts";

const many = Array.from({ length: 60 }, (_, at) => at);
const genAi = (model: object) =>
  JSON.stringify([
    { id: "x", models: many.map((at) => ({ id: `m${at}`, match: { equals: `m${at}` }, prices: {}, ...model })) },
  ]);
const liteLlm = (entries: object) =>
  JSON.stringify({
    ...Object.fromEntries(many.map((at) => [`m${at}`, { litellm_provider: "x", input_cost_per_token: 1e-6 }])),
    ...entries,
  });
const ratesOf = (entry: object, provider: string, model: string, input = 1) =>
  readPriceFile(liteLlm(entry), "litellm@2026-11-29")
    .table.find(provider, model)
    ?.periods[0]?.steps.findLast(({ above }) => input > above)?.rates;

test.each<[string, string, RegExp]>([
  ["no JSON", "{", /is no JSON/],
  ["another file", '{"name":"spanway"}', /neither a price file of genai-prices nor one of LiteLLM/],
  ["a number", "1", /neither/],
  ["nothing", "null", /neither/],
  ["no prices", "[]", /0 models/],
  ["few prices", JSON.stringify({ a: { litellm_provider: "x", input_cost_per_token: 1 } }), /1 models/],
  ["prices as text", genAi({ prices: { input_mtok: "1" } }), /cannot be read/],
  ["a negative price", genAi({ prices: { input_mtok: -1 } }), /cannot be read/],
  ["a negative tier", genAi({ prices: { input_mtok: { base: -1, tiers: [] } } }), /cannot be read/],
  ["a negative price from a date on", genAi({ prices: [{ prices: { input_mtok: -1 } }] }), /cannot be read/],
  ["a match that is not a pattern", genAi({ match: { regex: "(" } }), /cannot be read/],
  ["a match that is text", genAi({ match: "m" }), /cannot be read/],
  ["models without an id", genAi({ id: 7 }), /cannot be read/],
  ["a provider without models", '[{"id":"x"}]', /have an id and models/],
])("refuses a file with %s", (_name, text, message) => {
  expect(() => readPriceFile(text, "file")).toThrow(message);
});

test("always gives a reason when it fails", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(() => readPriceFile(text, "file")).toThrow(/^The price file/);
    }),
  );
});

describe("a file of LiteLLM", () => {
  test("converts prices per token to prices per million, and reads tiers for longer prompts", () => {
    const entry = {
      "gemini/new": {
        litellm_provider: "gemini",
        input_cost_per_token: 1.25e-6,
        input_cost_per_token_above_200k_tokens: 2.5e-6,
        output_cost_per_token: 1e-5,
        cache_read_input_token_cost: 1.25e-7,
      },
    };
    expect(ratesOf(entry, "google", "new")).toEqual({ input: 1.25, output: 10, cache_read: 0.125 });
    expect(ratesOf(entry, "google", "new", 200_001)).toEqual({ input: 2.5, output: 10, cache_read: 0.125 });
  });

  test("does not take a tier of the 1-hour cache write for one of the 5-minute write", () => {
    const entry = {
      "claude-new": {
        litellm_provider: "anthropic",
        input_cost_per_token: 1e-7,
        input_cost_per_token_above_100k_tokens: 5e-7,
        input_cost_per_token_above_100k_tokens_batches: 2.5e-7,
        cache_creation_input_token_cost: 1.25e-7,
        cache_creation_input_token_cost_above_100k_tokens: 6.25e-7,
        cache_creation_input_token_cost_above_1hr: 2e-7,
        cache_creation_input_token_cost_above_1hr_above_100k_tokens: 1e-6,
      },
    };
    expect(ratesOf(entry, "anthropic", "claude-new")).toEqual({
      input: 0.1,
      cache_write_5m: 0.125,
      cache_write_1h: 0.2,
    });
    expect(ratesOf(entry, "anthropic", "claude-new", 100_001)).toEqual({
      input: 0.5,
      cache_write_5m: 0.625,
      cache_write_1h: 1,
    });
  });

  test("has the price of a web search if it is the same for all context sizes", () => {
    const claude = { litellm_provider: "anthropic", input_cost_per_token: 3e-6 };
    const sized = (low: number, medium: number, high: number) => ({
      ...claude,
      search_context_cost_per_query: {
        search_context_size_low: low,
        search_context_size_medium: medium,
        search_context_size_high: high,
      },
    });
    expect(ratesOf({ c: sized(0.01, 0.01, 0.01) }, "anthropic", "c")).toEqual({ input: 3, web_search: 0.01 });
    expect(ratesOf({ c: sized(0.005, 0.008, 0.012) }, "anthropic", "c")).toEqual({ input: 3 });
  });

  test.each([
    ["vertex_ai/claude-new", "vertex_ai-anthropic_models", "google", "claude-new"],
    ["anthropic.claude-new-v1:0", "bedrock_converse", "aws", "anthropic.claude-new-v1:0"],
    ["azure/gpt-new", "azure", "azure", "gpt-new"],
    ["gpt-new", "openai", "openai", "GPT-new"],
    ["together_ai/meta/New", "together_ai", "together", "meta/new"],
  ])("finds %s of %s", (key, litellm_provider, provider, model) => {
    expect(ratesOf({ [key]: { litellm_provider, input_cost_per_token: 2e-6 } }, provider, model)).toEqual({ input: 2 });
  });

  test("has no price for a model with only zeros, unless it is offered for free", () => {
    const nothing = { litellm_provider: "openrouter", input_cost_per_token: 0, output_cost_per_token: 0 };
    expect(ratesOf({ "openrouter/a/b": nothing }, "openrouter", "a/b")).toBeUndefined();
    expect(ratesOf({ "openrouter/a/b:free": nothing }, "openrouter", "a/b:free")).toEqual({ input: 0, output: 0 });
  });

  test("ignores members that are not prices", () => {
    const odd = {
      litellm_provider: "openai",
      input_cost_per_token: "1e-6",
      output_cost_per_token: -1,
      input_cost_per_second: 1e-4,
    };
    expect(ratesOf({ odd }, "openai", "odd")).toEqual({ audio_second: 1e-4 });
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalizeUsage, type RawUsage } from "../../domain/usage.ts";
import { createPriceBook } from "../price-book.ts";
import { readReceipt } from "../receipt.ts";
import { anthropic } from "./anthropic.ts";
import { deepseek } from "./deepseek.ts";
import { hosts } from "./hosts.ts";
import { makers } from "./makers.ts";

const book = createPriceBook({ maxModels: 1000 });
const saturday = "2026-11-28T12:00:00Z";

function price(model: string, provider: string, raw: RawUsage, at = saturday) {
  const usage = normalizeUsage(raw);
  if (!usage) throw new Error("no usage");
  return book.price({ organizationId: "o", model, provider, usage, timestampNs: BigInt(Date.parse(at)) * 1_000_000n });
}

const million = { input: 1_000_000, output: 0, total: 1_000_000 };
const few = { input: 1000, output: 0, total: 1000 };
const perMillion = (model: string, provider: string, at?: string): number =>
  (price(model, provider, few, at).costUsd ?? Number.NaN) * 1000;

describe("M18: a model of 2026 is found under the names that providers, SDKs and gateways use for it", () => {
  test.each([
    ["claude-sonnet-5-5", "anthropic", 2],
    ["claude-sonnet-5.5", "anthropic", 2],
    ["claude-sonnet-5-5-20260928", "anthropic", 2],
    ["anthropic/claude-haiku-5.5", "", 0.1],
    ["claude-haiku-5-5", "", 0.1],
    ["vertex_ai/claude-haiku-5-5@20260928", "", 0.1],
    ["claude-haiku-5-5@default", "google-vertex", 0.1],
    ["publishers/anthropic/models/claude-sonnet-5-5", "vertex_ai", 2],
    ["azure_ai/claude-sonnet-5-5", "", 2],
    ["claude-fable-5-2", "anthropic", 8],
    ["claude-mythos-5-1", "anthropic", 10],
    ["models/gemini-4-argon", "gemini", 2],
    ["gemini/gemini-4-argon", "", 2],
    ["google/gemini-4-hydrogen", "vertex_ai", 1.5],
    ["projects/p/locations/global/publishers/google/models/gemini-4-argon", "vertex_ai", 2],
    ["gpt-6.1-sol-2026-10-08", "", 2],
    ["openai/gpt-6.1-terra", "", 1],
    ["gpt-6.2-astra-2026-11-20", "azure", 8],
    ["azure/gpt-6.1-sol", "", 2],
    ["gpt-4o-mini-transcribe-2025-12-15", "openai", 1.25],
    ["grok-4.20-0309-non-reasoning", "xai", 1.25],
    ["x-ai/grok-4.7", "", 2],
    ["grok-4.20-beta-0309-reasoning", "xai", 1.25],
    ["grok-4.20-multi-agent-beta-latest", "xai", 1.25],
    ["grok-build-latest", "xai", 2],
    ["mistral/mistral-large-4-0", "", 0.7],
    ["moonshot/kimi-k3.1-pro", "", 2],
    ["zai-org/GLM-5.3", "together_ai", 1.4],
    ["together_ai/meta-models/Muse-Glimmer-30B", "", 0.35],
    ["fireworks_ai/accounts/fireworks/models/glm-5p3-flash", "", 0.15],
    ["accounts/fireworks/models/deepseek-v3p1-terminus", "fireworks", 0.56],
    ["groq/qwen/qwen3.8-27b", "", 0.8],
    ["deepseek-flash", "", 0.15],
    ["deepseek.v3-v1:0", "bedrock", 0.58],
    // Aliases that move to newer models.
    ["gemini-flash-latest", "google", 0.75],
    ["models/gemini-pro-latest", "google", 2],
    ["chat-latest", "openai", 5],
    ["devstral-latest", "mistral", 0.4],
  ])("%s of '%s' costs %f", (model, provider, rate) => {
    expect(perMillion(model, provider)).toBeCloseTo(rate, 9);
  });

  test.each([
    ["global.anthropic.claude-sonnet-5-5-20260928-v1:0", 2],
    ["arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.anthropic.claude-sonnet-5-5-20260928-v1:0", 2],
    ["us.anthropic.claude-sonnet-5-5-20260928-v1:0", 2.2],
    ["arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-5-5", 2.2],
    ["us-gov.anthropic.claude-sonnet-5-5", 2.4],
    ["anthropic.claude-sonnet-5-5", 2.2],
    ["bedrock/us-east-1/anthropic.claude-sonnet-5-5-20260928-v1:0", 2.2],
    ["bedrock/global.openai.gpt-6.1-sol", 2],
    ["in.openai.gpt-6-luna", 0.11],
    ["us.moonshotai.kimi-k3", 3.3],
  ])("Bedrock's %s costs %f: a geography costs a tenth more than the global endpoint", (model, rate) => {
    expect(perMillion(model, "bedrock")).toBeCloseTo(rate, 9);
    expect(perMillion(model, "")).toBeCloseTo(rate, 9);
  });

  test.each([
    ["amazon.titan-embed-text-v2:0", 0.02],
    ["amazon.titan-embed-text-v1", 0.1],
    ["apac.amazon.nova-pro-v1:0", 0.84],
    ["us.amazon.nova-pro-v1:0", 0.8],
    ["us.deepseek.v3.2", 0.62],
    ["jp.amazon.nova-2-lite-v1:0", 0.396],
    ["us.anthropic.claude-fable-5", 11],
    ["us-gov.anthropic.claude-opus-5", 6],
    ["us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.6],
    ["global.xai.grok-4.7", 2],
  ])("Bedrock's %s costs %f", (model, rate) => {
    expect(perMillion(model, "bedrock")).toBeCloseTo(rate, 9);
  });

  test("the price of one geography is not that of another", () => {
    expect(price("eu.deepseek.v3.2", "bedrock", few).costUsd).toBeUndefined();
    expect(price("apac.zai.glm-5", "bedrock", few).costUsd).toBeUndefined();
  });

  test.each([
    ["deepseek-v3.2", 0.58],
    ["DeepSeek-R1", 1.35],
    ["grok-code-fast-1", 0.2],
    ["gpt-oss-120b", 0.15],
    ["Phi-4", 0.125],
    ["kimi-k2.6", 0.95],
  ])("%s at Azure costs %f, not its maker's price", (model, rate) => {
    expect(perMillion(model, "azure")).toBeCloseTo(rate, 9);
    expect(perMillion(`azure_ai/${model}`, "")).toBeCloseTo(rate, 9);
  });

  test("the price at Azure is unknown if only the maker states a price", () => {
    for (const model of ["deepseek-chat", "kimi-k3", "grok-3-mini"]) {
      expect(price(model, "azure", few).costUsd).toBeUndefined();
    }
  });

  test("a model whose name begins the same is another model", () => {
    for (const name of ["gpt-6.1", "gpt-6.1-sol-mini", "claude-sonnet-5-5x", "gemini-4", "grok-4.71"]) {
      const { version } = price(name, "", few);
      expect(version).not.toContain("gpt-6.1-sol");
      expect(version).not.toContain("claude-sonnet-5-5");
      expect(version).not.toContain("gemini-4-argon");
      expect(version).not.toContain("grok-4.7");
    }
    expect(price("gemini-4-argon", "anthropic", few).costUsd).toBeUndefined();
    expect(price("zai-org/GLM-5.3", "groq", few).costUsd).toBeUndefined();
  });

  test("a dated snapshot that no table lists costs what its model costs, and the receipt says so", () => {
    const listed = price("gpt-4o-2024-05-13", "openai", few);
    const unlisted = price("gpt-4o-2031-01-31", "openai", few);
    expect(listed.costUsd).toBeCloseTo(0.005, 9);
    expect(unlisted.costUsd).toBeCloseTo(0.0025, 9);
    const assumptionsOf = ({ receipt, version }: typeof listed) => readReceipt(receipt, "", version)?.assumptions;
    expect(assumptionsOf(listed)).toEqual([]);
    expect(assumptionsOf(unlisted)).toEqual([expect.stringContaining("snapshot")]);
    expect(price("no-such-model-2026-01-31", "openai", few).costUsd).toBeUndefined();
  });
});

describe("M18: prices of 2026", () => {
  test("a prompt of more than 100,000 tokens costs more for every token", () => {
    const haiku = (input: number, rest: RawUsage = {}) =>
      price("claude-haiku-5-5", "anthropic", { input, output: 1000, ...rest }).costUsd;
    expect(haiku(100_000)).toBeCloseTo((100_000 * 0.1 + 1000 * 0.5) / 1e6, 12);
    expect(haiku(100_001)).toBeCloseTo((100_001 * 0.5 + 1000 * 2.5) / 1e6, 12);
    // Cache reads and writes are part of the prompt.
    expect(haiku(100_001, { cacheRead: 60_000, cacheWrite1h: 40_000 })).toBeCloseTo(
      (1 * 0.5 + 60_000 * 0.05 + 40_000 * 1 + 1000 * 2.5) / 1e6,
      12,
    );
  });

  test.each([
    ["gemini-4-argon", "google", "2026-11-30T23:59:59Z", 2],
    ["gemini-4-argon", "google", "2026-12-01T00:00:00Z", 4],
    ["mistral-large-4", "mistral", "2026-10-19T00:00:00Z", 0.68],
    ["mistral-large-4", "mistral", "2026-10-21T00:00:00Z", 1.36],
    ["mistral-large-4", "mistral", "2026-10-29T00:00:00Z", 0.7],
    ["grok-code-fast-1", "x-ai", "2026-05-15T18:59:59Z", 0.2],
    ["grok-code-fast-1", "x-ai", "2026-05-15T19:00:00Z", 1],
    ["grok-4.20", "x-ai", "2026-04-29T00:00:00Z", 2],
    ["grok-4.20", "x-ai", "2026-04-30T00:00:00Z", 1.25],
    ["deepseek-chat", "deepseek", "2025-08-01T12:00:00Z", 0.27],
    ["deepseek-chat", "deepseek", "2025-08-01T16:30:00Z", 0.135],
    ["deepseek-chat", "deepseek", "2025-09-20T20:00:00Z", 0.56],
    ["deepseek-reasoner", "deepseek", "2025-12-01T20:00:00Z", 0.28],
    ["deepseek-chat", "deepseek", "2026-06-01T02:00:00Z", 0.14],
  ])("%s at %s, %s: %f", (model, provider, at, rate) => {
    expect(perMillion(model, provider, at)).toBeCloseTo(rate, 9);
  });

  test.each([
    ["Friday, before the peak", "2026-11-27T00:59:59Z", 0.15],
    ["Friday, in the peak", "2026-11-27T01:00:00Z", 0.3],
    ["Friday, between two peaks", "2026-11-27T04:00:00Z", 0.15],
    ["Friday, in the second peak", "2026-11-27T09:59:59Z", 0.3],
    ["Friday, after it", "2026-11-27T10:00:00Z", 0.15],
    ["Saturday, at the same time", "2026-11-28T02:00:00Z", 0.15],
    ["Sunday", "2026-11-29T07:00:00Z", 0.15],
    ["before peak pricing", "2026-08-14T02:00:00Z", 0.14],
    ["peaks of the previous model", "2026-08-21T02:00:00Z", 0.44],
    ["outside the peaks of the previous model", "2026-08-21T12:00:00Z", 0.22],
  ])("DeepSeek's hours: %s", (_, at, rate) => {
    expect(perMillion("deepseek-v4-flash", "deepseek", at)).toBeCloseTo(rate, 9);
  });

  test("Mistral's cached tokens cost a tenth, also for models without a cache rate in the table", () => {
    for (const model of ["codestral-latest", "devstral-small-latest", "mistral-large-4", "magistral-medium-latest"]) {
      const cached = price(model, "mistral", { ...million, cacheRead: 1_000_000 }).costUsd;
      expect(cached).toBeCloseTo((price(model, "mistral", million).costUsd ?? Number.NaN) / 10, 9);
    }
    // Models of others have prices of their own.
    expect(price("zai-glm-5-3-flash", "mistral", { ...million, cacheRead: 1_000_000 }).costUsd).toBeCloseTo(0.03, 9);
  });
});

describe("the sheets", () => {
  const sheets = [...anthropic, deepseek, ...makers, ...hosts];
  const rows = sheets.flatMap((sheet) => sheet.rows.map((row) => ({ ...row, provider: sheet.provider })));

  test("list no model twice at one provider: the second would hide the first", () => {
    const names = rows.flatMap(({ provider, models }) => models.map((model) => `${provider}/${model}`));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(names.filter((name) => name !== name.toLowerCase())).toEqual([]);
  });

  test("have plausible prices: a cache read costs less than the prompt, a long prompt no less than a short one", () => {
    for (const { models, rates, long, later = [] } of rows) {
      for (const { input = 0, cache_read = 0, cache_write_1h, cache_write_5m = 0 } of [
        rates,
        ...later.map((one) => one.rates),
      ]) {
        expect(cache_read, models[0]).toBeLessThanOrEqual(input * 0.6);
        expect(cache_write_1h ?? cache_write_5m, models[0]).toBeGreaterThanOrEqual(cache_write_5m);
      }
      for (const [bucket, rate] of Object.entries(long?.rates ?? {})) {
        expect(rate, models[0]).toBeGreaterThanOrEqual(rates[bucket as keyof typeof rates] ?? Number.NaN);
      }
    }
  });

  test("are found by every name, in any case and with a date", () => {
    fc.assert(
      fc.property(fc.constantFrom(...rows), fc.boolean(), fc.boolean(), ({ provider, models }, isUpper, isDated) => {
        for (const model of models) {
          const name = isDated && !/\d{4}$/.test(model) ? `${model}-20261101` : model;
          const { version } = price(isUpper ? name.toUpperCase() : name, provider, { ...few, characters: 1 });
          expect(version).toContain(`@2026-11-29 ${provider}/${model}`);
        }
      }),
    );
  });
});

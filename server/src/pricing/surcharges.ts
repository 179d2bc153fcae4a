import type { Bucket, Rates } from "./buckets.ts";

/**
 * The charges of providers that price tables do not contain. The first of several rows that matches the table's names
 * of provider and model counts. Prices are list prices: free daily allowances are not known here.
 */
type Row = { providers: readonly string[]; models: RegExp };

const openaiShops = ["openai", "azure"];

/**
 * Tier as a response states it → multiple of the standard price of every token, except of the buckets in `except`. A
 * tier without a row has no known price.
 */
type TierRow = Row & { factors: Readonly<Record<string, number>>; except?: readonly Bucket[] };

const half = { flex: 0.5, batch: 0.5 };

const openai = (models: RegExp, priority: number): TierRow => ({
  providers: openaiShops,
  models,
  // Priority processing has been called fast mode since July 2026; both names are accepted.
  factors: { ...half, priority, fast: priority },
});

const tierRows: readonly TierRow[] = [
  // https://openai.com/api-fast-mode, https://developers.openai.com/api/docs/pricing
  {
    providers: ["openai"],
    models: /^gpt-6(-astra|\.1-sol)/,
    factors: { ...half, priority: 2, fast: 2, ultrafast: 6 },
  },
  openai(/^gpt-5\.5/, 2.5),
  openai(/^gpt-5(\.1-codex)?-mini/, 1.8),
  openai(/^gpt-4\.1-nano/, 2),
  openai(/^(gpt-4\.1|o3|gpt-4o-2024-05-13)/, 1.75),
  openai(/^gpt-4o-mini/, 5 / 3),
  openai(/^gpt-4o/, 1.7),
  openai(/^o4-mini/, 20 / 11),
  openai(/^/, 2),
  // https://platform.claude.com/docs/en/build-with-claude/fast-mode
  { providers: ["anthropic"], models: /^claude-opus-(4-8|5)/, factors: { batch: 0.5, fast: 2 } },
  { providers: ["anthropic"], models: /^claude-opus-4-6/, factors: { batch: 0.5, fast: 6 } },
  // https://platform.claude.com/docs/en/about-claude/pricing; on Vertex AI and Bedrock too
  { providers: ["anthropic"], models: /^/, factors: { batch: 0.5 } },
  { providers: ["google", "aws"], models: /claude/, factors: { batch: 0.5 } },
  // https://ai.google.dev/gemini-api/docs/pricing, https://ai.google.dev/gemini-api/docs/optimization
  {
    providers: ["google"],
    models: /^gemini-(2\.5|3-flash|3\.1-pro)/,
    factors: { ...half, priority: 1.8 },
    except: ["cache_read", "cache_read_audio", "cache_read_image", "cache_read_video"],
  },
  { providers: ["google"], models: /^gemini/, factors: { ...half, priority: 1.8 } },
  // https://aws.amazon.com/bedrock/pricing/
  { providers: ["aws"], models: /^/, factors: { ...half, priority: 1.75 } },
  // https://docs.fireworks.ai/serverless/pricing
  { providers: ["fireworks"], models: /gpt-oss/, factors: { batch: 0.5, priority: 1.2 } },
  {
    providers: ["fireworks"],
    models: /kimi-k(2p[67]|3p1)|minimax-m3|qwen3p8-max|muse-/,
    factors: { batch: 0.5, priority: 1.5 },
  },
  { providers: ["fireworks"], models: /^/, factors: { batch: 0.5, priority: 1.25 } },
  // https://console.groq.com/docs/flex-processing, https://console.groq.com/docs/batch
  { providers: ["groq"], models: /^/, factors: { flex: 1, batch: 0.5 } },
  // https://docs.x.ai/docs/guides/batch-api
  { providers: ["x-ai"], models: /^/, factors: { batch: 0.8 } },
  // https://docs.together.ai/docs/batch-inference, https://docs.mistral.ai/capabilities/batch
  { providers: ["together", "mistral"], models: /^/, factors: { batch: 0.5 } },
];

/** Names of the standard tier. */
const standardTiers: ReadonlySet<string> = new Set(["", "default", "standard", "standard_only", "auto", "on_demand"]);

export type Adjustment = { factor: number; except: readonly Bucket[] };

/** Undefined for a tier whose price is not known; null if nothing is adjusted. */
export function adjustmentOfTier(provider: string, model: string, tier: string): Adjustment | null | undefined {
  if (standardTiers.has(tier)) return null;
  const row = rowOf(tierRows, provider, model);
  const factor = row && Object.hasOwn(row.factors, tier) ? row.factors[tier] : undefined;
  if (row === undefined || factor === undefined) return undefined;
  // `except` applies to discounts only, not to premiums.
  return { factor, except: factor < 1 ? (row.except ?? []) : [] };
}

const regionRows: ReadonlyArray<Row & { factors: Readonly<Record<string, number>> }> = [
  // https://platform.claude.com/docs/en/about-claude/pricing#data-residency-pricing: from Opus 4.6 on; older models serve anywhere
  {
    providers: ["anthropic"],
    models: /^claude-((opus|sonnet)-(4-[6-9]|[5-9])|haiku-(5-[1-9]|[6-9])|fable|mythos)/,
    factors: { us: 1.1, global: 1, not_available: 1 },
  },
  { providers: ["anthropic"], models: /^/, factors: { us: 1, global: 1, not_available: 1 } },
  // The price of a region follows from the endpoint in the model's name.
  { providers: ["aws", "google", "azure"], models: /claude/, factors: { global: 1, not_available: 1 } },
];

/** The same for the region that served a call. */
export function adjustmentOfRegion(provider: string, model: string, region: string): Adjustment | null | undefined {
  const row = rowOf(regionRows, provider, model);
  const factor = row && Object.hasOwn(row.factors, region) ? row.factors[region] : undefined;
  return factor === undefined ? undefined : factor === 1 ? null : { factor, except: [] };
}

/** Rates of buckets that the table omits: their own figures, or those of another bucket if the provider says so. */
type RateRow = Row & { rates?: Rates; as?: { readonly [B in Bucket]?: readonly [Bucket, number] } };

const seenAsText = { input_image: ["input", 1], cache_read_image: ["cache_read", 1] } as const;

const rateRows: readonly RateRow[] = [
  // https://developers.openai.com/api/docs/models/gpt-4o-audio-preview
  { providers: openaiShops, models: /^gpt-4o-mini-audio-preview/, rates: { input_audio: 10, output_audio: 20 } },
  { providers: openaiShops, models: /^gpt-4o-audio-preview/, rates: { input_audio: 40, output_audio: 80 } },
  // These models only output speech or images: their output rate is the rate of that.
  { providers: [...openaiShops, "google"], models: /tts/, as: { output_audio: ["output", 1] } },
  { providers: openaiShops, models: /^gpt-image-(1$|1-mini|2)/, as: { output_image: ["output", 1] } },
  // https://developers.openai.com/api/docs/guides/images-vision: models with vision bill images as text tokens;
  // https://developers.openai.com/api/docs/guides/prompt-caching: up to GPT-5.5 cache writes cost nothing extra
  {
    providers: openaiShops,
    models: /^(gpt-|chatgpt-|o\d|computer-use|codex)/,
    as: { ...seenAsText, cache_write_5m: ["input", 1], cache_write_1h: ["cache_write_5m", 1] },
  },
  // https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing
  {
    providers: ["anthropic", "aws", "google", "azure"],
    models: /claude/,
    as: { ...seenAsText, cache_read: ["input", 0.1], cache_write_5m: ["input", 1.25], cache_write_1h: ["input", 2] },
  },
  // https://ai.google.dev/gemini-api/docs/pricing: a modality without its own line has the common price; implicit cache
  // writes cost the price of input, storage is charged separately
  {
    providers: ["google"],
    models: /^(gemini|learnlm)/,
    as: {
      ...seenAsText,
      input_video: ["input", 1],
      input_audio: ["input", 1],
      cache_read_video: ["cache_read", 1],
      cache_read_audio: ["cache_read", 1],
      cache_write_5m: ["input", 1],
      cache_write_1h: ["input", 1],
    },
  },
  // https://api-docs.deepseek.com/guides/kv_cache: a miss costs the price of input, and is written to the cache
  { providers: ["deepseek"], models: /^/, as: { cache_write_5m: ["input", 1] } },
  // https://docs.x.ai/docs/models: images are billed as prompt tokens
  { providers: ["x-ai"], models: /^grok/, as: seenAsText },
  // https://docs.mistral.ai/capabilities/vision, https://docs.mistral.ai/inference/pricing: cached tokens cost a tenth
  { providers: ["mistral"], models: /^/, as: { cache_read: ["input", 0.1], ...seenAsText } },
];

/** All rates of a model in its standard tier, including those that the table omits. */
export function completeRates(provider: string, model: string, rates: Rates): Rates {
  const complete: { -readonly [B in Bucket]?: number } = { ...rates };
  for (const row of rateRows) {
    if (!row.providers.includes(provider) || !row.models.test(model)) continue;
    for (const [bucket, rate] of Object.entries(row.rates ?? {})) complete[bucket as Bucket] ??= rate;
    for (const [bucket, [of, factor]] of Object.entries(row.as ?? {})) {
      const base = complete[of];
      if (base !== undefined) complete[bucket as Bucket] ??= base * factor;
    }
  }
  return { ...complete, ...rowOf(feeRows, provider, model)?.fees };
}

type FeeRow = Row & { fees: Rates };

/** Gemini up to the second generation. Names without a number belong to the first. */
const secondGemini = /^gemini-([12]|(flash|pro)(-[12]|-vision|$))/;

const feeRows: readonly FeeRow[] = [
  // https://developers.openai.com/api/docs/pricing: these search for every request; the search results cost no tokens.
  { providers: ["openai"], models: /-search-preview/, fees: { request: 0.025, web_search: 0 } },
  // Its search results are billed as tokens: https://developers.openai.com/api/docs/pricing
  { providers: ["openai"], models: /^gpt-5-search-api/, fees: { request: 0.01, web_search: 0 } },
  { providers: ["openai"], models: /^o(3|4-mini)-deep-research/, fees: { web_search: 0.01 } },
  // https://ai.google.dev/gemini-api/docs/pricing: per prompt up to the second generation, per query from the third on.
  { providers: ["google"], models: secondGemini, fees: { web_search: 0.035 } },
  { providers: ["google"], models: /^gemini/, fees: { web_search: 0.014 } },
];

/** Whether the provider charges once per response with searches, however many there were. */
export function chargesSearchesOnce(provider: string, model: string): boolean {
  return provider === "google" && secondGemini.test(model);
}

function rowOf<R extends Row>(rows: readonly R[], provider: string, model: string): R | undefined {
  return rows.find((row) => row.providers.includes(provider) && row.models.test(model));
}

import type { Rates } from "./buckets.ts";
import type { PriceTable } from "./price-entry.ts";

/**
 * Prices that the packaged table lacks or has wrong, with their source. `scripts/compare-prices.ts` says which differ from a
 * second table; what is corrected there stands here.
 */
const rows: ReadonlyArray<{ provider: string; models: readonly string[]; rates: Rates; source: string }> = [
  {
    provider: "together",
    models: ["openai/gpt-oss-120b", "gpt-oss-120b"],
    rates: { input: 0.15, output: 0.6 },
    source: "https://www.together.ai/pricing",
  },
  {
    provider: "together",
    models: ["openai/gpt-oss-20b", "gpt-oss-20b"],
    rates: { input: 0.05, output: 0.2 },
    source: "https://www.together.ai/pricing",
  },
  // The packaged table takes it for the larger model.
  {
    provider: "groq",
    models: ["openai/gpt-oss-safeguard-20b"],
    rates: { input: 0.075, cache_read: 0.0375, output: 0.3 },
    source: "https://console.groq.com/docs/models",
  },
  // Names that Mistral moved on to newer models. What is cached costs a tenth: https://docs.mistral.ai/inference/pricing
  {
    provider: "mistral",
    models: ["mistral-medium", "mistral-medium-2604", "magistral-medium-latest"],
    rates: { input: 1.5, cache_read: 0.15, output: 7.5 },
    source: "https://docs.mistral.ai/models/mistral-medium-3-5-26-04",
  },
  {
    provider: "mistral",
    models: ["magistral-small-latest"],
    rates: { input: 0.15, cache_read: 0.015, output: 0.6 },
    source: "https://docs.mistral.ai/models/model-cards/mistral-small-4-0-26-03",
  },
  {
    provider: "mistral",
    models: ["mistral-large-latest", "mistral-large-3"],
    rates: { input: 0.5, cache_read: 0.05, output: 1.5 },
    source: "https://docs.mistral.ai/models/mistral-large-3-25-12",
  },
  {
    provider: "openai",
    models: ["tts-1"],
    rates: { character: 15e-6 },
    source: "https://developers.openai.com/api/docs/models/tts-1",
  },
  {
    provider: "openai",
    models: ["tts-1-hd"],
    rates: { character: 30e-6 },
    source: "https://developers.openai.com/api/docs/models/tts-1-hd",
  },
  {
    provider: "openai",
    models: ["omni-moderation-latest", "omni-moderation-2024-09-26", "text-moderation-latest"],
    rates: { input: 0, output: 0 },
    source: "https://developers.openai.com/api/docs/guides/moderation",
  },
];

/** When the rows were last compared with their sources, for receipts. */
const checkedOn = "2026-11-29";

export const supplementTable: PriceTable = {
  name: "spanway",
  hasProvider: (provider) => rows.some((row) => row.provider === provider),
  find(provider, model) {
    const name = model.toLowerCase();
    const row = rows.find((one) => one.provider === provider && one.models.includes(name));
    return (
      row && {
        provider,
        model: row.models[0] ?? model,
        source: `${row.source}@${checkedOn} ${provider}/${name}`,
        periods: [{ holdsAt: () => true, steps: [{ above: -1, rates: row.rates }] }],
      }
    );
  },
};

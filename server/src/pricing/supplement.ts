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
        source: `${row.source} ${provider}/${name}`,
        periods: [{ holdsAt: () => true, steps: [{ above: -1, rates: row.rates }] }],
      }
    );
  },
};

/**
 * What a provider charges beside its standard price of tokens, where the price table has no figure of it. Of several rows the first
 * that matches the table's names of provider and model counts. Prices are list prices: free allowances a day are not known here.
 */
type TierRow = {
  provider: string;
  models: RegExp;
  /** Tier as a response states it → times the standard price of every token. A tier that is in no row has the standard price. */
  factors: Readonly<Record<string, number>>;
};

const half = { flex: 0.5, batch: 0.5 };

const openai = (models: RegExp, priority: number): TierRow => ({
  provider: "openai",
  models,
  // Priority processing is called fast mode since July 2026, and both names are taken.
  factors: { ...half, priority, fast: priority },
});

const tierRows: readonly TierRow[] = [
  // https://openai.com/api-fast-mode, https://developers.openai.com/api/docs/pricing
  openai(/^gpt-5\.5/, 2.5),
  openai(/^gpt-5-mini/, 1.8),
  openai(/^gpt-4\.1-nano/, 2),
  openai(/^(gpt-4\.1|o3|gpt-4o-2024-05-13)/, 1.75),
  openai(/^gpt-4o-mini/, 5 / 3),
  openai(/^gpt-4o/, 1.7),
  openai(/^o4-mini/, 20 / 11),
  openai(/^/, 2),
  // https://platform.claude.com/docs/en/build-with-claude/fast-mode
  { provider: "anthropic", models: /^claude-opus-5(?!-5)/, factors: { batch: 0.5, fast: 2 } },
  { provider: "anthropic", models: /^claude-opus-4-6/, factors: { batch: 0.5, fast: 6 } },
  // https://platform.claude.com/docs/en/about-claude/pricing: what was committed to as priority is no price of tokens.
  { provider: "anthropic", models: /^/, factors: { batch: 0.5 } },
  // https://ai.google.dev/gemini-api/docs/pricing, https://ai.google.dev/gemini-api/docs/optimization
  { provider: "google", models: /^gemini/, factors: { ...half, priority: 1.8 } },
];

/** USD that a call costs beside its tokens. */
export type Fees = {
  request: number;
  /** Each search. */
  search: number;
  /** Once, for a call that searched, however often. */
  searching: number;
};

type FeeRow = { provider: string; models: RegExp; fees: Partial<Fees> };

const feeRows: readonly FeeRow[] = [
  // https://developers.openai.com/api/docs/pricing: these search for every answer; what they find costs no tokens.
  { provider: "openai", models: /-search-preview/, fees: { request: 0.025 } },
  // https://ai.google.dev/gemini-api/docs/pricing: by prompt up to the second generation, by query from the third on.
  { provider: "google", models: /^gemini-(1|2|flash|pro)/, fees: { searching: 0.035 } },
  { provider: "google", models: /^gemini/, fees: { search: 0.014 } },
];

export function tierFactors(provider: string, model: string): ReadonlyMap<string, number> {
  return new Map(Object.entries(rowOf(tierRows, provider, model)?.factors ?? {}));
}

/** @param listed USD for a thousand, by the price table's names of what is counted */
export function feesOf(provider: string, model: string, listed: Readonly<Record<string, unknown>>): Fees {
  const each = (name: string): number => (typeof listed[name] === "number" ? listed[name] / 1000 : 0);
  const added = rowOf(feeRows, provider, model)?.fees;
  return {
    request: added?.request ?? each("requests_kcount"),
    search: added?.search ?? each("web_searches_kcount"),
    searching: added?.searching ?? 0,
  };
}

function rowOf<Row extends { provider: string; models: RegExp }>(
  rows: readonly Row[],
  provider: string,
  model: string,
): Row | undefined {
  return rows.find((row) => row.provider === provider && row.models.test(model));
}

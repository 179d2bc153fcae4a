import { isObject } from "../../lib/json.ts";
import type { Bucket } from "../buckets.ts";
import { stepsOf, type PriceEntry, type PriceTable } from "../price-entry.ts";
import { tableName } from "../providers.ts";

/**
 * Bucket, names of its price in the table (the first present counts), and the factor that converts the price to the
 * bucket's rate.
 */
const priceKeys: ReadonlyArray<readonly [Bucket, readonly string[], number]> = [
  ["input", ["input_cost_per_token"], 1e6],
  ["input_audio", ["input_cost_per_audio_token"], 1e6],
  ["input_image", ["input_cost_per_image_token"], 1e6],
  ["input_video", ["input_cost_per_video_token"], 1e6],
  ["cache_read", ["cache_read_input_token_cost", "input_cost_per_token_cache_hit"], 1e6],
  ["cache_read_audio", ["cache_read_input_audio_token_cost"], 1e6],
  ["cache_read_image", ["cache_read_input_image_token_cost"], 1e6],
  ["cache_write_5m", ["cache_creation_input_token_cost"], 1e6],
  ["cache_write_1h", ["cache_creation_input_token_cost_above_1hr"], 1e6],
  ["output", ["output_cost_per_token"], 1e6],
  ["output_reasoning", ["output_cost_per_reasoning_token"], 1e6],
  ["output_audio", ["output_cost_per_audio_token"], 1e6],
  ["output_image", ["output_cost_per_image_token"], 1e6],
  ["output_video", ["output_cost_per_video_token"], 1e6],
  ["audio_second", ["input_cost_per_second", "input_cost_per_audio_per_second"], 1],
  ["character", ["input_cost_per_character"], 1],
  ["image", ["output_cost_per_image"], 1],
  ["page", ["ocr_cost_per_page"], 1],
  ["request", ["input_cost_per_request"], 1],
  ["rerank_search", ["input_cost_per_query"], 1],
];

/**
 * Reads a table in the format of LiteLLM's `model_prices_and_context_window.json`: prices per unit by `provider/model`.
 */
export function readLiteLlmFile(name: string, content: unknown): { table: PriceTable; models: number } {
  const providers = new Map<string, Map<string, PriceEntry>>();
  let models = 0;
  for (const [key, spec] of Object.entries(isObject(content) ? content : {})) {
    const entry = entryOf(name, key, spec);
    if (entry === undefined) continue;
    const ofProvider = providers.get(entry.provider) ?? new Map<string, PriceEntry>();
    providers.set(entry.provider, ofProvider);
    if (ofProvider.has(entry.model)) continue;
    ofProvider.set(entry.model, entry);
    models += 1;
  }
  const table: PriceTable = {
    name,
    hasProvider: (provider) => providers.has(provider),
    find: (provider, model) => providers.get(provider)?.get(model.toLowerCase()),
  };
  return { table, models };
}

function entryOf(table: string, key: string, spec: unknown): PriceEntry | undefined {
  if (!isObject(spec) || typeof spec["litellm_provider"] !== "string") return undefined;
  const search = searchFeeOf(spec["search_context_cost_per_query"]);
  const steps = stepsOf([
    ...priceKeys.flatMap(([bucket, names, scale]) => {
      const found = names.find((one) => priceOf(spec[one]) !== undefined);
      return found === undefined ? [] : [[bucket, withTiers(spec, found, scale)] as const];
    }),
    ...(search === undefined ? [] : [["web_search", search] as const]),
  ]);
  // 0 means an unknown price, except for a model that is offered for free.
  if (!Object.values(steps[0]?.rates ?? {}).some((rate) => rate > 0) && !/[:-]free$/.test(key)) return undefined;
  const provider = providerOf(spec["litellm_provider"]);
  const model = modelOf(key, spec["litellm_provider"]);
  return { provider, model, source: `${table} ${provider}/${model}`, periods: [{ holdsAt: () => true, steps }] };
}

/** `input_cost_per_token_above_200k_tokens` is the price of every token of a longer prompt. */
function withTiers(spec: Record<string, unknown>, name: string, scale: number) {
  const tiers = Object.keys(spec).flatMap((key) => {
    // `…_above_1hr_above_100k_tokens` is a tier of another price.
    const [, thousands] = key.startsWith(name) ? (/^_above_(\d+)k_tokens$/.exec(key.slice(name.length)) ?? []) : [];
    const price = priceOf(spec[key]);
    return thousands === undefined || price === undefined
      ? []
      : [{ start: Number(thousands) * 1000, price: exact(price * scale) }];
  });
  return { base: exact((priceOf(spec[name]) ?? 0) * scale), tiers: tiers.sort((a, b) => a.start - b.start) };
}

/**
 * The table has a price per size of the search context. A usage does not state that size, so the price is only known if
 * all sizes cost the same.
 */
function searchFeeOf(bySize: unknown): number | undefined {
  const [fee, ...others] = isObject(bySize) ? new Set(Object.values(bySize)) : [];
  return others.length === 0 ? priceOf(fee) : undefined;
}

function priceOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** 2.5e-06 × 1e6 is 2.5. */
function exact(rate: number): number {
  return Number(rate.toPrecision(12));
}

/** Converts `vertex_ai-anthropic_models` to the table name of vertex_ai. */
function providerOf(named: string): string {
  return tableName(named.replace(/-[\w-]*models$/, ""));
}

/** Removes the provider prefix, which LiteLLM uses to keep its keys unique. */
function modelOf(key: string, provider: string): string {
  const name = key.toLowerCase();
  const slash = name.indexOf("/");
  const prefix = name.slice(0, slash);
  const isProvider = slash > 0 && (prefix === provider || providerOf(prefix) === providerOf(provider));
  return isProvider ? name.slice(slash + 1) : name;
}

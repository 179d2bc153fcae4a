import { findProvider } from "@pydantic/genai-prices";
import { ServiceError } from "../domain/errors.ts";
import { isObject } from "../lib/json.ts";
import type { Bucket } from "./buckets.ts";
import { stepsOf, type PriceEntry, type PricePeriod, type PriceTable } from "./price-entry.ts";

/**
 * Tables in the format of genai-prices: the one in its package, offline, or a newer file.
 * https://github.com/pydantic/genai-prices
 */
type Provider = {
  id: string;
  fallback_model_providers?: readonly string[] | null | undefined;
  models: readonly Model[];
};

type Model = { id: string; match: unknown; prices: unknown };

/** Kept equal to the dependency by a test: the package does not export its own version. */
export const priceTableVersion = "genai-prices@0.1.8";

/** The release dates of tables, for receipts. */
export const releaseDates: Readonly<Record<string, string>> = { [priceTableVersion]: "2026-09-23" };

/** The package does not list its providers; a test compares. */
const providerIds = [
  "anthropic", "arcee", "avian", "aws", "azure", "baseten", "cerebras", "cloudflare", "cohere", "cursor", "deepseek",
  "doubleword", "fireworks", "github-copilot", "google", "groq", "huggingface_cerebras", "huggingface_fireworks-ai",
  "huggingface_groq", "huggingface_hyperbolic", "huggingface_nebius", "huggingface_novita", "huggingface_nscale",
  "huggingface_ovhcloud", "huggingface_publicai", "huggingface_sambanova", "huggingface_together", "minimax", "mistral",
  "modal", "moonshotai", "novita", "openai", "openrouter", "ovhcloud", "perplexity", "quicksilverpro", "together",
  "typesafe", "voyageai", "x-ai", "zai", "zhipuai",
]; // prettier-ignore

export function packagedTable(): PriceTable {
  const providers = providerIds.flatMap((id): Provider[] => {
    const found = findProvider({ providerId: id });
    return found?.id === id ? [found] : [];
  });
  return genAiTable(priceTableVersion, providers);
}

/**
 * @throws ServiceError `invalid_request` if the content is not a genai-prices file, or has a match rule that cannot be
 * read
 */
export function readGenAiFile(name: string, content: unknown): { table: PriceTable; models: number } {
  const list: unknown = isObject(content) ? content["providers"] : content;
  if (!Array.isArray(list) || !list.every(isProvider)) {
    throw new ServiceError(
      "invalid_request",
      "The price file is not one of genai-prices: providers have an id and models.",
    );
  }
  let models = 0;
  for (const { id, models: ofProvider } of list) {
    for (const model of ofProvider) {
      if (!isModel(model) || !isReadableMatch(model.match)) {
        throw new ServiceError("invalid_request", `The price file has a model of ${id} that cannot be read.`);
      }
      models += 1;
    }
  }
  return { table: genAiTable(name, list), models };
}

function isProvider(value: unknown): value is Provider {
  return isObject(value) && typeof value["id"] === "string" && Array.isArray(value["models"]);
}

function isModel(value: unknown): value is Model {
  return isObject(value) && typeof value["id"] === "string" && arePrices(value["prices"]);
}

/** A negative or non-numeric price would make every call of the model wrong. */
function arePrices(prices: unknown): boolean {
  if (Array.isArray(prices)) return prices.every((one) => isObject(one) && arePrices(one["prices"]));
  const isPrice = (value: unknown): boolean => typeof value === "number" && value >= 0;
  return (
    isObject(prices) &&
    Object.values(prices).every(
      (price) => price === null || isPrice(price) || (isObject(price) && isPrice(price["base"])),
    )
  );
}

function isReadableMatch(rule: unknown): boolean {
  try {
    matches(rule, "");
    return isObject(rule);
  } catch {
    return false;
  }
}

/**
 * Makers whose prices the tables use for a cloud that has different ones: https://prices.azure.com/api/retail/prices
 */
const otherPrices: Readonly<Record<string, readonly string[]>> = { azure: ["deepseek", "x-ai", "moonshotai"] };

function genAiTable(name: string, list: readonly Provider[]): PriceTable {
  const providers = new Map(list.map((provider) => [provider.id, provider]));
  const modelIn = (provider: Provider | undefined, model: string): Model | undefined =>
    provider?.models.find(({ match }) => matches(match, model));
  const find = (id: string, model: string): Model | undefined => {
    const provider = providers.get(id);
    const own = modelIn(provider, model);
    if (own !== undefined || provider === undefined) return own;
    for (const other of provider.fallback_model_providers ?? []) {
      if (otherPrices[id]?.includes(other)) continue;
      const found = modelIn(providers.get(other), model);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    name,
    hasProvider: (provider) => providers.has(provider),
    find(provider, model) {
      const found = find(provider, model) ?? find(provider, withDashes(model));
      return found && entryOf(name, provider, found);
    },
  };
}

/** Converts `-20250929` to `-2025-09-29`, as in some names of the table. */
function withDashes(model: string): string {
  return model.replace(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, "-$1-$2-$3");
}

export function entryOf(table: string, provider: string, model: Model): PriceEntry {
  const conditional = Array.isArray(model.prices) ? (model.prices as unknown[]) : [{ prices: model.prices }];
  const periods = conditional.filter(isObject).map(({ constraint, prices }): PricePeriod => ({
    holdsAt: conditionOf(constraint),
    steps: stepsOf(pricesOf(prices, model.id)),
  }));
  return { provider, model: model.id, source: `${table} ${provider}/${model.id}`, periods };
}

/**
 * Bucket, names of its price in the table (most specific first), and the factor that converts the price to the bucket's
 * rate.
 */
const priceKeys: ReadonlyArray<readonly [Bucket, readonly string[], number]> = [
  ["input", ["input_text_mtok", "input_mtok"], 1],
  ["input_audio", ["input_audio_mtok"], 1],
  ["input_image", ["input_image_mtok"], 1],
  ["input_video", ["input_video_mtok"], 1],
  ["cache_read", ["cache_text_read_mtok", "cache_read_mtok"], 1],
  ["cache_read_audio", ["cache_audio_read_mtok"], 1],
  ["cache_read_image", ["cache_image_read_mtok"], 1],
  ["cache_read_video", ["cache_video_read_mtok"], 1],
  ["cache_write_5m", ["cache_write_5m_mtok", "cache_write_mtok"], 1],
  ["cache_write_1h", ["cache_write_1h_mtok"], 1],
  ["output", ["output_text_mtok", "output_mtok"], 1],
  ["output_reasoning", ["output_reasoning_mtok"], 1],
  ["output_audio", ["output_audio_mtok"], 1],
  ["output_image", ["output_image_mtok"], 1],
  ["output_video", ["output_video_mtok"], 1],
  ["audio_second", ["input_audio_hours", "audio_hours"], 1 / 3600],
  ["character", ["input_mchars"], 1e-6],
  ["page", ["input_document_kpages"], 1e-3],
  ["request", ["requests_kcount"], 1e-3],
  ["rerank_search", ["rerank_searches_kcount"], 1e-3],
  ["web_search", ["web_searches_kcount"], 1e-3],
];

function pricesOf(prices: unknown, model: string): Parameters<typeof stepsOf>[0] {
  if (!isObject(prices)) return [];
  const found = priceKeys.flatMap(([bucket, keys, scale]): Array<[Bucket, ReturnType<typeof scaled> & {}]> => {
    const price = scaled(
      keys.map((key) => prices[key]).find((value) => value !== undefined),
      scale,
    );
    return price === undefined ? [] : [[bucket, price]];
  });
  // An entry without prices has no rates, except for a model that is offered for free.
  return found.length === 0 && model.endsWith(":free")
    ? [
        ["input", 0],
        ["output", 0],
      ]
    : found;
}

function scaled(price: unknown, scale: number): Parameters<typeof stepsOf>[0][number][1] | undefined {
  if (typeof price === "number") return price * scale;
  if (!isObject(price) || typeof price["base"] !== "number" || !Array.isArray(price["tiers"])) return undefined;
  const tiers = (price["tiers"] as unknown[]).filter(isTier);
  return { base: price["base"] * scale, tiers: tiers.map(({ start, price: of }) => ({ start, price: of * scale })) };
}

function isTier(value: unknown): value is { start: number; price: number } {
  return isObject(value) && typeof value["start"] === "number" && typeof value["price"] === "number";
}

function conditionOf(constraint: unknown): (ms: number) => boolean {
  if (!isObject(constraint)) return () => true;
  const { start_date, start_time, end_time } = constraint;
  if (typeof start_date === "string") {
    const startMs = Date.parse(start_date);
    return (ms) => ms >= startMs;
  }
  if (typeof start_time !== "string" || typeof end_time !== "string") return () => false;
  const [start, end] = [secondOfDay(start_time), secondOfDay(end_time)];
  return (ms) => {
    const second = (ms / 1000) % 86_400;
    return end < start ? second >= start || second < end : second >= start && second < end;
  };
}

/** `16:30:00Z`, in seconds of the day in UTC. */
function secondOfDay(time: string): number {
  const at = new Date(`2000-01-01T${time}`);
  return at.getUTCHours() * 3600 + at.getUTCMinutes() * 60 + at.getUTCSeconds();
}

/** Evaluates the table's match rules. Unknown rules match nothing. */
function matches(rule: unknown, model: string): boolean {
  if (!isObject(rule)) return false;
  const name = model.toLowerCase();
  for (const [kind, value] of Object.entries(rule)) {
    if (kind === "or") return Array.isArray(value) && value.some((one) => matches(one, model));
    if (kind === "and") return Array.isArray(value) && value.every((one) => matches(one, model));
    if (typeof value !== "string") return false;
    const text = value.toLowerCase();
    if (kind === "equals") return name === text;
    if (kind === "starts_with") return name.startsWith(text);
    if (kind === "ends_with") return name.endsWith(text);
    if (kind === "contains") return name.includes(text);
    return kind === "regex" && new RegExp(value).test(model);
  }
  return false;
}

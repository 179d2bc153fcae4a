import { calcPrice, findProvider, type ModelInfo } from "@pydantic/genai-prices";
import { entryOf, priceTableVersion } from "../../pricing/genai-table.ts";
import { ratesAt } from "../../pricing/price-book.ts";
import type { PriceTable } from "../../pricing/price-entry.ts";
import { supplementTable } from "../../pricing/supplement/table.ts";

/**
 * The providers that offer a model and the names they use, from the tables of `@pydantic/genai-prices`, offline. They
 * contain most models of the large vendors, and by name prefix also newer ones.
 */
export type Catalogue = {
  /** Every provider of the catalogue, in order of preference. */
  providers: readonly string[];
  /** Providers that offer `model` under exactly this name, its maker first. Empty for an unknown name. */
  providersOf(model: string): readonly string[];
  /** A provider's models. */
  modelsOf(provider: string): readonly ModelInfo[];
  /** The same with their prices at a time, in milliseconds since the epoch. */
  pricedModelsOf(provider: string, atMs: number): readonly CatalogueModel[];
};

export type CatalogueModel = {
  id: string;
  contextWindow: number | undefined;
  /** USD per million tokens of a call with a short prompt; undefined if unknown. */
  inputUsd: number | undefined;
  cacheReadUsd: number | undefined;
  cacheWriteUsd: number | undefined;
  outputUsd: number | undefined;
  /** A long prompt, or a call at another hour of the day, has another price. */
  isVariable: boolean;
};

/** Our providers in order of preference, with their names in the tables. */
const tableNames = {
  openai: "openai",
  anthropic: "anthropic",
  gemini: "google",
  mistral: "mistral",
  deepseek: "deepseek",
  xai: "x-ai",
  perplexity: "perplexity",
  azure: "azure",
  bedrock: "aws",
  groq: "groq",
  cerebras: "cerebras",
  together: "together",
  fireworks: "fireworks",
  openrouter: "openrouter",
} as const;

type Known = keyof typeof tableNames;

/** Name patterns whose maker the tables miss or get wrong. */
const families: ReadonlyArray<readonly [RegExp, Known]> = [
  [
    /^((us|us-gov|eu|apac|jp|au|global)\.)?(anthropic|amazon|meta|mistral|cohere|ai21|deepseek|qwen|openai)\./,
    "bedrock",
  ],
  [/^arn:aws[\w-]*:bedrock:/, "bedrock"],
  [/^(chatgpt-|text-embedding-(3|ada)|whisper-|tts-|omni-moderation|o\d|computer-use|codex-|dall-e)/, "openai"],
  [/^(gemini-|gemma-|learnlm-|gemini-embedding)/, "gemini"],
  [/^sonar/, "perplexity"],
];

/** The Gemini API offers only Google's models, while Google's table contains everything that its cloud offers. */
const onlySells: Partial<Record<Known, RegExp>> = { gemini: /^(gemini|gemma|learnlm)/ };

const oneToken = { input_tokens: 1 };

/** @param maxModels cached names, which come from callers */
export function createCatalogue({ maxModels }: { maxModels: number }): Catalogue {
  const known = new Map<string, readonly string[]>();
  const supplement = supplementTable();
  return {
    providers: Object.keys(tableNames),
    providersOf: (model) => {
      let providers = known.get(model);
      if (providers === undefined) {
        // A lookup takes half a millisecond.
        if (known.size >= maxModels) known.clear();
        providers = findProviders(model);
        known.set(model, providers);
      }
      return providers;
    },
    modelsOf: (provider) => (isKnown(provider) ? listedOf(provider) : []),
    pricedModelsOf: (provider, atMs) =>
      isKnown(provider) ? listedOf(provider).map((model) => priced(supplement, tableNames[provider], model, atMs)) : [],
  };
}

function listedOf(provider: Known): ModelInfo[] {
  const models = findProvider({ providerId: tableNames[provider] })?.models ?? [];
  return models.filter(({ id }) => onlySells[provider]?.test(id) ?? true);
}

const halfHourMs = 30 * 60_000;

function priced(supplement: PriceTable, provider: string, model: ModelInfo, atMs: number): CatalogueModel {
  const entry = supplement.find(provider, model.id) ?? entryOf(priceTableVersion, provider, model);
  const rates = ratesAt(entry, atMs, 0);
  const isOther = (laterMs: number, inputTokens: number): boolean => ratesAt(entry, laterMs, inputTokens) !== rates;
  return {
    id: model.id,
    contextWindow: model.context_window,
    inputUsd: rates.input,
    cacheReadUsd: rates.cache_read,
    cacheWriteUsd: rates.cache_write_5m,
    outputUsd: rates.output,
    isVariable:
      isOther(atMs, Infinity) ||
      (entry.periods.length > 1 &&
        Array.from({ length: 48 }, (_, i) => atMs + i * halfHourMs).some((ms) => isOther(ms, 0))),
  };
}

function findProviders(model: string): string[] {
  const maker = families.find(([pattern]) => pattern.test(model))?.[1] ?? makerOf(model);
  const sellers = Object.keys(tableNames)
    .filter(isKnown)
    .filter((provider) => provider !== maker && sells(provider, model));
  return maker === undefined ? sellers : [maker, ...sellers];
}

function makerOf(model: string): Known | undefined {
  // A slash marks a reseller's name, in which the tables would find the vendor.
  if (model.includes("/")) return model.startsWith("accounts/fireworks/") ? "fireworks" : undefined;
  const id = findProvider({ modelId: model })?.id;
  return Object.keys(tableNames)
    .filter(isKnown)
    .find((provider) => tableNames[provider] === id && (onlySells[provider]?.test(model) ?? true));
}

function sells(provider: Known, model: string): boolean {
  if (onlySells[provider]?.test(model) === false) return false;
  try {
    return Boolean(calcPrice(oneToken, model, { providerId: tableNames[provider] }));
  } catch {
    // The provider has the model, but no price for this usage.
    return true;
  }
}

function isKnown(provider: string): provider is Known {
  return Object.hasOwn(tableNames, provider);
}

import { calcPrice, findProvider, type ModelInfo } from "@pydantic/genai-prices";

/**
 * Which providers sell a model under which name, from the tables of `@pydantic/genai-prices`, offline. They know most models of the
 * large vendors, and by their prefixes also those that are newer than the tables.
 */
export type Catalogue = {
  /** Every provider of the catalogue, in the order in which they are asked. */
  providers: readonly string[];
  /** Providers that sell `model` under exactly this name, its maker first. Empty for a name that nobody knows. */
  providersOf(model: string): readonly string[];
  /** The names of a provider's models. */
  modelsOf(provider: string): readonly CatalogueModel[];
};

export type CatalogueModel = {
  id: string;
  contextWindow: number | undefined;
  /** USD per million tokens, of the lowest tier; undefined where the price depends on the time, or there is none. */
  inputUsd: number | undefined;
  cacheReadUsd: number | undefined;
  cacheWriteUsd: number | undefined;
  outputUsd: number | undefined;
};

/** Our providers in the order in which they are asked for a model, and what the tables call them. */
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

/** Names whose maker the tables do not find, or find wrongly. */
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

/** The Gemini API sells Google's models alone, while the table of Google holds what its cloud sells. */
const onlySells: Partial<Record<Known, RegExp>> = { gemini: /^(gemini|gemma|learnlm)/ };

const oneToken = { input_tokens: 1 };

/** @param maxModels names that are remembered; they come from callers */
export function createCatalogue({ maxModels }: { maxModels: number }): Catalogue {
  const known = new Map<string, readonly string[]>();
  return {
    providers: Object.keys(tableNames),
    providersOf: (model) => {
      let providers = known.get(model);
      if (providers === undefined) {
        // Looking one up takes half a millisecond.
        if (known.size >= maxModels) known.clear();
        providers = findProviders(model);
        known.set(model, providers);
      }
      return providers;
    },
    modelsOf: (provider) => {
      if (!isKnown(provider)) return [];
      const models = findProvider({ providerId: tableNames[provider] })?.models ?? [];
      return models
        .filter(({ id }) => onlySells[provider]?.test(id) ?? true)
        .map(({ id, context_window, prices }) => ({
          id,
          contextWindow: context_window,
          inputUsd: priceIn(prices, "input_mtok"),
          cacheReadUsd: priceIn(prices, "cache_read_mtok"),
          cacheWriteUsd: priceIn(prices, "cache_write_mtok"),
          outputUsd: priceIn(prices, "output_mtok"),
        }));
    },
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
  // A slash makes it the name of a reseller, whose vendor the tables would find within.
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
    // It knows the model, but no price for this usage.
    return true;
  }
}

function priceIn(prices: ModelInfo["prices"], bucket: string): number | undefined {
  const price = Array.isArray(prices) ? undefined : prices[bucket];
  return typeof price === "object" ? price.base : price;
}

function isKnown(provider: string): provider is Known {
  return Object.hasOwn(tableNames, provider);
}

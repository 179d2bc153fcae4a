import { calcPrice } from "@pydantic/genai-prices";
import type { Usage } from "../../domain/usage.ts";
import { type Fees, feesOf, tierFactors } from "./surcharges.ts";

/**
 * What a model call cost in USD, from the price table of `@pydantic/genai-prices`, offline.
 *
 * A price is linear in the token buckets below the first tier, so each model's rates are read from the table once
 * (a full calculation takes tens of microseconds) and a call costs a few multiplications.
 */
export type PriceBook = {
  /** Undefined when the model or the usage is unknown: unknown is not free. */
  price(call: PricedCall): Price | undefined;
  /** Of a recording that plays so many seconds, for models that are paid by time. */
  priceAudio(call: { model: string; provider: string; seconds: number }): Price | undefined;
};

export type PricedCall = {
  model: string;
  provider: string;
  usage: Usage;
  /** End of the call: prices change over time. Nanoseconds since the epoch. */
  timestampNs: bigint;
  /** USD per million tokens, stated by the caller; they win over the table. */
  unitPrices?: { prompt: number | undefined; completion: number | undefined };
};

/** `version` names the table's release and entry, for instance `genai-prices@0.1.8 openai/gpt-4o`. */
export type Price = { costUsd: number; version: string };

/** Kept equal to the dependency by a test: the package does not export its own version. */
export const priceTableVersion = "genai-prices@0.1.8";

const bucketUsage = {
  fresh: { input_tokens: 1000, output_tokens: 0 },
  cacheRead: { input_tokens: 1000, cache_read_tokens: 1000, output_tokens: 0 },
  cacheWrite5m: { input_tokens: 1000, cache_write_tokens: 1000, output_tokens: 0 },
  cacheWrite1h: { input_tokens: 1000, cache_write_tokens: 1000, cache_write_1h_tokens: 1000, output_tokens: 0 },
  audioInput: { input_tokens: 1000, input_audio_tokens: 1000, output_tokens: 0 },
  output: { output_tokens: 1000 },
  audioOutput: { output_tokens: 1000, output_audio_tokens: 1000 },
} as const;

type Bucket = keyof typeof bucketUsage;

type Rates = {
  providerId: string | undefined;
  model: string;
  version: string;
  /** USD per token and bucket. */
  perToken: Record<Bucket, number>;
  /** Input tokens from which on the rates rise; beyond it the table calculates. */
  tierStart: number;
  /** The price depends on the date or hour. */
  isConditional: boolean;
  /** Of service tiers that have another price than the standard one: times that. */
  factors: ReadonlyMap<string, number>;
  fees: Fees;
};

/** What clients call a provider → what the table calls it. */
const providerAliases: Record<string, string> = {
  azure_openai: "azure",
  "azure-openai": "azure",
  bedrock: "aws",
  aws_bedrock: "aws",
  "aws.bedrock": "aws",
  "amazon-bedrock": "aws",
  gemini: "google",
  vertex_ai: "google",
  "vertex-ai": "google",
  google_genai: "google",
  "gcp.gemini": "google",
  "gcp.vertex_ai": "google",
  "google-vertex": "google",
  xai: "x-ai",
  mistralai: "mistral",
  mistral_ai: "mistral",
  together_ai: "together",
  togetherai: "together",
  fireworks_ai: "fireworks",
};

/** Providers whose models the table does not find by name alone. */
const modelFamilies: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(text-embedding-|whisper|tts-|omni-moderation)/, "openai"],
  [/^(us|eu|apac|global)?\.?(anthropic|amazon|meta|mistral|cohere)\./, "aws"],
];

export function createPriceBook({ maxModels }: { maxModels: number }): PriceBook {
  // By model, then provider: a key made of both would have to be put together and hashed for each call.
  const known = new Map<string, Map<string, Rates | undefined>>();
  let size = 0;

  const ratesOf = (model: string, provider: string): Rates | undefined => {
    const rates = known.get(model)?.get(provider);
    if (rates !== undefined || known.get(model)?.has(provider)) return rates;
    // Model names come from callers: forget everything rather than grow without end.
    if (size >= maxModels) {
      known.clear();
      size = 0;
    }
    const found = findRates(model, provider);
    known.set(model, (known.get(model) ?? new Map<string, Rates | undefined>()).set(provider, found));
    size += 1;
    return found;
  };

  return {
    price(call) {
      const { usage } = call;
      if (usage.input === undefined && usage.output === undefined) return undefined;
      const { prompt, completion } = call.unitPrices ?? {};
      if (prompt !== undefined || completion !== undefined) {
        const costUsd = ((usage.input ?? 0) * (prompt ?? 0) + (usage.output ?? 0) * (completion ?? 0)) / 1e6;
        return { costUsd: withoutNoise(costUsd), version: "stated unit prices" };
      }
      if (usage.billedUsd !== undefined) return { costUsd: usage.billedUsd, version: "stated by the provider" };
      if (call.model === "") return undefined;
      const rates = ratesOf(call.model, call.provider.toLowerCase());
      if (!rates) return undefined;
      const isLinear = !rates.isConditional && (usage.input ?? 0) < rates.tierStart;
      const tokensUsd = isLinear ? linearCost(rates.perToken, usage) : calculate(rates, call);
      return tokensUsd === undefined ? undefined : withSurcharges(tokensUsd, rates, usage);
    },
    priceAudio({ model, provider, seconds }) {
      if (model === "") return undefined;
      for (const candidate of candidates(model, provider.toLowerCase())) {
        const found = tryCalculate({ audio_seconds: seconds }, candidate.model, candidate.providerId);
        if (found === undefined || found.total_price === 0) continue;
        const version = `${priceTableVersion} ${found.provider.id}/${found.model.id}`;
        return { costUsd: withoutNoise(found.total_price), version };
      }
      return undefined;
    },
  };
}

/** Cuts where the error of adding doubles begins: $0.000075, not $0.00007500000000000001. */
function withoutNoise(costUsd: number): number {
  return Number(costUsd.toPrecision(12));
}

/** @param tokensUsd what the tokens cost in the standard tier */
function withSurcharges(tokensUsd: number, { version, factors, fees }: Rates, usage: Usage): Price {
  const { webSearches = 0, serviceTier = "" } = usage;
  const factor = factors.get(serviceTier);
  const feesUsd = fees.request + webSearches * fees.search + (webSearches > 0 ? fees.searching : 0);
  const costUsd = withoutNoise(tokensUsd * (factor ?? 1) + feesUsd);
  return { costUsd, version: factor === undefined ? version : `${version} ${serviceTier}` };
}

function linearCost(perToken: Record<Bucket, number>, usage: Usage): number {
  const cacheRead = usage.cacheRead ?? 0;
  const cacheWrite1h = Math.min(usage.cacheWrite1h ?? 0, usage.cacheWrite ?? 0);
  const cacheWrite5m = (usage.cacheWrite ?? 0) - cacheWrite1h;
  const notCached = Math.max(0, usage.fresh ?? usage.input ?? 0);
  const audioInput = Math.min(usage.audioInput ?? 0, notCached);
  const output = usage.output ?? 0;
  const audioOutput = Math.min(usage.audioOutput ?? 0, output);
  return (
    (notCached - audioInput) * perToken.fresh +
    audioInput * perToken.audioInput +
    cacheRead * perToken.cacheRead +
    cacheWrite5m * perToken.cacheWrite5m +
    cacheWrite1h * perToken.cacheWrite1h +
    (output - audioOutput) * perToken.output +
    audioOutput * perToken.audioOutput
  );
}

function calculate(rates: Rates, { usage, timestampNs }: PricedCall): number | undefined {
  const notCached = Math.max(0, usage.fresh ?? usage.input ?? 0);
  const result = tryCalculate(
    {
      input_tokens: usage.input ?? 0,
      output_tokens: usage.output ?? 0,
      cache_read_tokens: usage.cacheRead ?? 0,
      cache_write_tokens: usage.cacheWrite ?? 0,
      cache_write_1h_tokens: Math.min(usage.cacheWrite1h ?? 0, usage.cacheWrite ?? 0),
      input_audio_tokens: Math.min(usage.audioInput ?? 0, notCached),
      output_audio_tokens: Math.min(usage.audioOutput ?? 0, usage.output ?? 0),
    },
    rates.model,
    rates.providerId,
    new Date(Number(timestampNs / 1_000_000n)),
  );
  return result && tokensPrice(result);
}

function findRates(model: string, provider: string): Rates | undefined {
  for (const candidate of candidates(model, provider)) {
    const found = tryCalculate(bucketUsage.fresh, candidate.model, candidate.providerId);
    if (found) return readRates(candidate, found);
  }
  return undefined;
}

type Candidate = { model: string; providerId: string | undefined };

/** Ways to name one model, most specific first: `azure/gpt-4o`, `openrouter` + `openai/gpt-4o`, a bare `gpt-4o` … */
function candidates(model: string, provider: string): Candidate[] {
  const list: Candidate[] = [];
  const tableProvider = (name: string): string => providerAliases[name] ?? name;
  if (provider !== "") list.push({ model, providerId: tableProvider(provider) });
  const slash = model.indexOf("/");
  if (slash > 0) {
    const rest = model.slice(slash + 1);
    list.push({ model: rest, providerId: tableProvider(model.slice(0, slash).toLowerCase()) });
    list.push({ model: rest, providerId: undefined });
  }
  list.push({ model, providerId: undefined });
  for (const [pattern, providerId] of modelFamilies) if (pattern.test(model)) list.push({ model, providerId });
  return list;
}

type Calculated = NonNullable<ReturnType<typeof calcPrice>>;

/** Without what the table charges for the request itself. */
function tokensPrice({ total_price, model_price }: Calculated): number {
  const each = model_price["requests_kcount"];
  return typeof each === "number" ? total_price - each / 1000 : total_price;
}

function readRates(candidate: Candidate, found: Calculated): Rates {
  const rate = (bucket: Bucket, fallback: number): number => {
    const result = tryCalculate(bucketUsage[bucket], candidate.model, candidate.providerId);
    return result ? tokensPrice(result) / 1000 : fallback;
  };
  const fresh = tokensPrice(found) / 1000;
  const cacheWrite5m = rate("cacheWrite5m", fresh);
  const output = rate("output", 0);
  const tiers = Object.values(found.model_price).flatMap((price) => (typeof price === "object" ? price.tiers : []));
  return {
    ...candidate,
    version: `${priceTableVersion} ${found.provider.id}/${found.model.id}`,
    perToken: {
      fresh,
      cacheRead: rate("cacheRead", fresh),
      cacheWrite5m,
      cacheWrite1h: rate("cacheWrite1h", cacheWrite5m),
      audioInput: rate("audioInput", fresh),
      output,
      audioOutput: rate("audioOutput", output),
    },
    tierStart: tiers.reduce((lowest, tier) => Math.min(lowest, tier.start), Number.POSITIVE_INFINITY),
    isConditional: Array.isArray(found.model.prices),
    factors: tierFactors(found.provider.id, found.model.id),
    fees: feesOf(found.provider.id, found.model.id, found.model_price),
  };
}

/** The table throws where a usage lacks a price for one of its buckets; that is "unknown" here. */
function tryCalculate(
  usage: Record<string, number>,
  model: string,
  providerId: string | undefined,
  timestamp?: Date,
): Calculated | undefined {
  try {
    return calcPrice(usage, model, { ...(providerId && { providerId }), ...(timestamp && { timestamp }) }) ?? undefined;
  } catch {
    return undefined;
  }
}

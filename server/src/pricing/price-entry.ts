import type { Bucket, Rates } from "./buckets.ts";

/** The prices of one model at one provider, whichever table they come from. */
export type PriceEntry = {
  /** The table's own names. */
  provider: string;
  model: string;
  /** Where the rates come from, for instance `genai-prices@0.1.8 openai/gpt-4o`. */
  source: string;
  /** In the order in which they came into force; the last one that holds at a time counts, else the first. */
  periods: readonly PricePeriod[];
  /** The owner's own price: no surcharge of a table is added to it. */
  isOwn?: boolean;
};

export type PricePeriod = {
  /** Whether it holds at a time, in milliseconds since the epoch. */
  holdsAt: (ms: number) => boolean;
  /** In rising order: the last one whose `above` the input exceeds counts. The first is above -1. */
  steps: ReadonlyArray<{ above: number; rates: Rates }>;
};

/** Prices by the names that a provider and its models have in that table. */
export type PriceTable = {
  name: string;
  hasProvider(provider: string): boolean;
  find(provider: string, model: string): PriceEntry | undefined;
};

export function ratesAt({ periods }: PriceEntry, ms: number, inputTokens: number): Rates {
  let period = periods[0];
  for (let i = periods.length - 1; i > 0; i -= 1) {
    const later = periods[i];
    if (later?.holdsAt(ms)) {
      period = later;
      break;
    }
  }
  const steps = period?.steps ?? [];
  let rates: Rates = {};
  for (const step of steps) if (inputTokens > step.above) rates = step.rates;
  return rates;
}

type Tiered = { base: number; tiers: ReadonlyArray<{ start: number; price: number }> };

/** Prices by bucket, each the same for every size of a prompt or in steps. */
export function stepsOf(prices: ReadonlyArray<readonly [Bucket, number | Tiered]>): PricePeriod["steps"] {
  const starts = prices.flatMap(([, price]) =>
    typeof price === "number" ? [] : price.tiers.map(({ start }) => start),
  );
  return [-1, ...[...new Set(starts)].sort((a, b) => a - b)].map((above) => ({
    above,
    rates: Object.fromEntries(prices.map(([bucket, price]) => [bucket, priceAbove(price, above)])),
  }));
}

function priceAbove(price: number | Tiered, above: number): number {
  if (typeof price === "number") return price;
  return price.tiers.reduce((found, tier) => (tier.start <= above ? tier.price : found), price.base);
}

import type { Bucket, Rates } from "./buckets.ts";

/** The prices of one model at one provider, from any table. */
export type PriceEntry = {
  /** As the table names them. */
  provider: string;
  model: string;
  /** The source of the rates, for instance `genai-prices@0.1.8 openai/gpt-4o`. */
  source: string;
  /** In order of taking effect; the last one that applies at a time counts, otherwise the first. */
  periods: readonly PricePeriod[];
  /** The owner's own price: no surcharge of a table is added to it. */
  isOwn?: boolean;
};

export type PricePeriod = {
  /** Whether it applies at a time, in milliseconds since the epoch. */
  holdsAt: (ms: number) => boolean;
  /** In rising order: the last one whose `above` the input exceeds counts. The first is above -1. */
  steps: ReadonlyArray<{ above: number; rates: Rates }>;
};

/** Prices by the table's names of providers and models. */
export type PriceTable = {
  name: string;
  hasProvider(provider: string): boolean;
  find(provider: string, model: string): PriceEntry | undefined;
};

type Tiered = { base: number; tiers: ReadonlyArray<{ start: number; price: number }> };

/** Converts prices by bucket, flat or tiered by the size of the prompt, to steps. */
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

import type { Rates } from "../buckets.ts";

/**
 * What models cost at one provider. A price stands here where the packaged table lacks it or has it wrong, and the provider's own
 * page, or two tables that are kept by different people, agree on it.
 */
export type Sheet = {
  provider: string;
  /** The page that states the prices. */
  source: string;
  /** Bedrock: a name without `global.` is served in one geography, for so many times the price. */
  geoFactor?: number;
  rows: readonly Row[];
};

export type Row = Price & {
  /** In lower case. Each name stands for its dated snapshots too. */
  models: readonly string[];
  /** Another page than that of the sheet. */
  source?: string;
  /** Prices that came into force later: the last one that holds counts. */
  later?: ReadonlyArray<Price & { holdsAt: (ms: number) => boolean }>;
};

type Price = {
  rates: Rates;
  /** The prices of every token where the prompt has more than `above`. */
  long?: { above: number; rates: Rates };
};

/** USD per million tokens. What is left out is charged as the provider's rules say, or not sold. */
export function tokens(
  input: number,
  output?: number,
  cacheRead?: number,
  cacheWrite5m?: number,
  cacheWrite1h?: number,
): Rates {
  return {
    input,
    ...(output === undefined ? {} : { output }),
    ...(cacheRead === undefined ? {} : { cache_read: cacheRead }),
    ...(cacheWrite5m === undefined ? {} : { cache_write_5m: cacheWrite5m }),
    ...(cacheWrite1h === undefined ? {} : { cache_write_1h: cacheWrite1h }),
  };
}

/** @param time ISO 8601, in UTC */
export function from(time: string): (ms: number) => boolean {
  const startMs = Date.parse(time);
  return (ms) => ms >= startMs;
}

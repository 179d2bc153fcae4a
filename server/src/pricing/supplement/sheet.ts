import type { Rates } from "../buckets.ts";

/**
 * Prices of models at one provider. A price is listed here if the packaged table lacks it or has it wrong, and the
 * provider's own page, or two independently maintained tables, confirm it.
 */
export type Sheet = {
  provider: string;
  /** The page with the prices. */
  source: string;
  /** Bedrock: a name without `global.` is served in one geography, at this multiple of the price. */
  geoFactor?: number;
  rows: readonly Row[];
};

export type Row = Price & {
  /** In lower case. Each name also covers its dated snapshots. */
  models: readonly string[];
  /** The page with this row's prices, if it is not that of the sheet. */
  source?: string;
  /** Prices that took effect later: the last one that applies counts. */
  later?: ReadonlyArray<Price & { holdsAt: (ms: number) => boolean }>;
};

type Price = {
  rates: Rates;
  /** The prices of every token if the prompt has more than `above`. */
  long?: { above: number; rates: Rates };
};

/** USD per million tokens. Omitted buckets follow the provider's rules in `surcharges.ts`, or are not sold. */
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

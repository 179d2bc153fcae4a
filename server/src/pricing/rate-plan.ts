import { isUnit, tokenBuckets, type Bucket, type Rates } from "./buckets.ts";
import type { PriceEntry } from "./price-entry.ts";
import { withoutNoise, type ReceiptWriter } from "./receipt.ts";
import {
  adjustmentOfRegion,
  adjustmentOfTier,
  chargesSearchesOnce,
  completeRates,
  type Adjustment,
} from "./surcharges.ts";

/**
 * The rates of one model for one tier and region, with their texts for receipts, so that a call costs a few
 * multiplications.
 */
export type RatePlan = {
  /** Identifies the prices: the table's entry, and the tier. */
  version: string;
  rates: ReadonlyMap<Bucket, Rate>;
  pricesReasoning: boolean;
  hasTokenRates: boolean;
  chargesSearchesOnce: boolean;
  /** Adds to a receipt the factors of the rates, and the tier or region without a known price. */
  note: (receipt: ReceiptWriter) => void;
};

/** `tail` is the end of a line of a receipt. */
export type Rate = { perUnit: number; tail: string };

export function planRates(entry: PriceEntry, rates: Rates, tier: string, region: string): RatePlan {
  const { provider, model, isOwn = false } = entry;
  const standard = isOwn ? rates : completeRates(provider, model, rates);
  const ofTier = isOwn ? null : adjustmentOfTier(provider, model, tier);
  const ofRegion = region === "" || isOwn ? null : adjustmentOfRegion(provider, model, region);
  const adjustments = [ofTier, ofRegion].filter((one): one is Adjustment => one !== null && one !== undefined);
  const planned = new Map<Bucket, Rate>();
  for (const [name, rate] of Object.entries(standard)) {
    const bucket = name as Bucket;
    const factor = isUnit(bucket) ? 1 : factorOf(adjustments, bucket);
    const adjusted = withoutNoise(rate * factor);
    planned.set(bucket, { perUnit: isUnit(bucket) ? adjusted : adjusted / 1e6, tail: `:${adjusted}` });
  }
  return {
    version: ofTier ? `${entry.source} ${tier}` : entry.source,
    rates: planned,
    pricesReasoning: planned.has("output_reasoning"),
    hasTokenRates: tokenBuckets.some((bucket) => planned.has(bucket)),
    chargesSearchesOnce: !isOwn && chargesSearchesOnce(provider, model),
    note: (receipt) => {
      if (ofTier) receipt.adjusted("service_tier", tier, withoutNoise(ofTier.factor));
      else if (ofTier === undefined) receipt.unpriced(`service_tier%3A${encodeURIComponent(tier)}`, 1, "no_tier");
      if (ofRegion) receipt.adjusted("region", region, ofRegion.factor);
      else if (ofRegion === undefined) receipt.unpriced(`region%3A${encodeURIComponent(region)}`, 1, "no_region");
    },
  };
}

function factorOf(adjustments: readonly Adjustment[], bucket: Bucket): number {
  return adjustments.reduce((product, { factor, except }) => (except.includes(bucket) ? product : product * factor), 1);
}

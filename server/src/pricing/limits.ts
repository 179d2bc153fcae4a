const MiB = 1024 * 1024;

/** Limits of prices, with the unit in each name. */
export const pricingLimits = {
  /** Far more than one span can have; sums of such counts stay exact. */
  countMax: 1e12,
  costUsdMax: 1e12,
  secondsMax: 1e10,
  modelNameChars: 512,
  /** Models whose price is cached: per organization with its own prices, and for the tables. */
  pricedModels: 10_000,
  /** Per organization, and for the operator's prices; and how many of them may have a `*` in the model's name. */
  modelPrices: 10_000,
  modelPricePatterns: 500,
  modelPriceWildcards: 4,
  modelPriceRefreshMs: 1_000,
  priceFileBytes: 32 * MiB,
  /** A file with prices of fewer models is refused as a wrong file. */
  priceFileModels: 50,
} as const;

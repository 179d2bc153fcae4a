const MiB = 1024 * 1024;

/** Limits of prices, with the unit in each name. */
export const pricingLimits = {
  /** Far beyond what one span can have, and sums of them stay exact. */
  countMax: 1e12,
  costUsdMax: 1e12,
  secondsMax: 1e10,
  modelNameChars: 512,
  /** Names of models whose price is remembered: of each organization with prices of its own, and of the tables. */
  pricedModels: 10_000,
  /** Of one organization, and of the operator for all; and how many of them may have a `*` in the model's name. */
  modelPrices: 10_000,
  modelPricePatterns: 500,
  modelPriceWildcards: 4,
  modelPriceRefreshMs: 1_000,
  priceFileBytes: 32 * MiB,
  /** A file with prices of fewer models is taken for another file. */
  priceFileModels: 50,
} as const;

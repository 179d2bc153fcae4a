/** The bounds of prices, a part of those in limits.ts. */
const MiB = 1024 * 1024;

export const pricingLimits = {
  /** Names of models whose price is remembered: of each organization with prices of its own, and of the tables. */
  pricedModels: 10_000,
  /** Of one organization, and of the operator for all; and how many of them may have a `*` in the model's name. */
  modelPrices: 10_000,
  modelPricePatterns: 500,
  modelPriceWildcards: 4,
  modelPriceRefreshMs: 1_000,
  /** Of one organization, that `prices check` lists. */
  unpricedModels: 1_000,
  /** Spans that one request prices again, and looks at. */
  repricedSpans: 20_000,
  repricedLookedAt: 200_000,
  repricedPage: 1_000,
  repricedSample: 20,
  repricedStatementChars: 80_000,
  priceFileBytes: 32 * MiB,
  /** Loaded price tables that are kept, earlier ones to go back to. */
  priceTables: 5,
  /** A file with prices of fewer models is taken for another file. */
  priceFileModels: 50,
} as const;

/** Amounts in the ledger are whole billionths of a dollar, which add up exactly. */
export type Nanos = bigint;

const nanosPerUsd = 1e9;

// Sums of thousands of these stay within 64 bits.
const maxUsd = 1_000_000;
const maxBudgetUsd = 4_000_000_000;

/** An amount spent or reserved: never negative, and at least one unit if it is positive. */
export function amountOf(usd: number): Nanos {
  if (!(usd > 0)) return 0n;
  return BigInt(Math.max(1, Math.round(Math.min(usd, maxUsd) * nanosPerUsd)));
}

/** A limit, or a sum of many amounts. */
export function budgetOf(usd: number): Nanos {
  return BigInt(Math.round(Math.min(Math.max(usd, 0), maxBudgetUsd) * nanosPerUsd));
}

export function usdOf(amount: Nanos): number {
  return Number(amount) / nanosPerUsd;
}

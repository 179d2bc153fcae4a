import { formatNumberOf } from "./format.ts";

/** The cost of a group of spans; null if it is unknown: the server returns 0 if none of the calls has a price. */
export function knownCost({
  total_cost,
  unpriced_count,
}: {
  total_cost: number;
  unpriced_count: number;
}): number | null {
  return total_cost === 0 && unpriced_count > 0 ? null : total_cost;
}

/** `cost unknown for 2 calls`. */
export const unknownCostText = (count: number): string => `cost unknown for ${formatNumberOf(count, "call")}`;

/** Why the cost of a call may be unknown. */
export const whyUnknownCost =
  "A call's cost is unknown if its model has no price or no usage was sent; no sum includes it";

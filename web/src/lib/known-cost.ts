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

/**
 * Draws the items one after the other, each time by weight among the remaining ones: the first is a fair draw, the
 * others are its fallbacks. Weights are positive.
 * @param random returns at least 0 and below 1
 */
export function weightedOrder<T>(items: readonly T[], weightOf: (item: T) => number, random: () => number): T[] {
  if (items.length < 2) return [...items];
  const left = [...items];
  const order: T[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, item) => sum + weightOf(item), 0);
    let point = random() * total;
    // If rounding leaves the point beyond the end, the last item is drawn.
    let drawn = left.findIndex((item) => (point -= weightOf(item)) < 0);
    if (drawn === -1) drawn = left.length - 1;
    order.push(...left.splice(drawn, 1));
  }
  return order;
}

/**
 * The items drawn one after the other, each time by weight among those that are left: the first is a fair draw, and what follows
 * are its stand-ins. Weights are positive.
 * @param random at least 0, below 1
 */
export function weightedOrder<T>(items: readonly T[], weightOf: (item: T) => number, random: () => number): T[] {
  if (items.length < 2) return [...items];
  const left = [...items];
  const order: T[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, item) => sum + weightOf(item), 0);
    let point = random() * total;
    // Where rounding leaves the point beyond the end, the last one is drawn.
    let drawn = left.findIndex((item) => (point -= weightOf(item)) < 0);
    if (drawn === -1) drawn = left.length - 1;
    order.push(...left.splice(drawn, 1));
  }
  return order;
}

/**
 * The similarity of two texts from 0 to 1: the share of pairs of neighbouring characters that they have in common
 * (Sørensen–Dice), ignoring case and spacing. Its cost is linear in their length.
 */
export function similarity(first: string, second: string): number {
  const [a, b] = [normalize(first), normalize(second)];
  if (a === b) return 1;
  const [left, right] = [pairsOf(a), pairsOf(b)];
  let shared = 0;
  for (const [pair, count] of left) shared += Math.min(count, right.get(pair) ?? 0);
  const total = Math.max(0, a.length - 1) + Math.max(0, b.length - 1);
  return total === 0 ? 0 : (2 * shared) / total;
}

function normalize(text: string): string {
  return text.normalize("NFC").toLowerCase().trim().replace(/\s+/g, " ");
}

function pairsOf(text: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let start = 0; start + 1 < text.length; start += 1) {
    const pair = text.slice(start, start + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

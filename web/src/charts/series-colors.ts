/** How many colours `charts.css` has: `--chart-1` to `--chart-8`, in both themes. */
export const colorCount = 8;

/** For the series of all other groups, and for absent values. */
export const neutralColor = "--chart-other";

/**
 * A CSS variable for each name, in the given order. A name has the same colour in every chart; if two names of one
 * chart collide, the later one takes the next free colour. Colours repeat if there are more names than colours.
 */
export function colorsOf(names: readonly string[]): string[] {
  const taken = new Set<number>();
  return names.map((name) => {
    if (taken.size === colorCount) taken.clear();
    let color = hash(name) % colorCount;
    while (taken.has(color)) color = (color + 1) % colorCount;
    taken.add(color);
    return `--chart-${color + 1}`;
  });
}

/** 32-bit FNV-1a. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return (state ^ (state >>> 15)) >>> 0;
}

import { at } from "./at.ts";
import type { TraceSpans } from "./trace-spans.ts";

/** The fold state: folded kinds (`*` for all), and spans folded or unfolded by hand since. */
export type FoldChoice = { kinds: readonly string[]; byHand: ReadonlyMap<string, boolean> };

export const everyKind = "*";

/**
 * 1 for each span whose descendants are hidden. Spans folded by hand are identified by `unique_id`, which stays the
 * same when more spans arrive.
 */
export function foldedSpans(spans: TraceSpans, { kinds, byHand }: FoldChoice, placeOf: PlaceOf): Uint8Array {
  const isEvery = kinds.includes(everyKind);
  const isFoldedKind = spans.kindNames.map((kind) => isEvery || kinds.includes(kind));
  const folded = Uint8Array.from(spans.kinds, (kind) => (isFoldedKind[kind] === true ? 1 : 0));
  for (const [id, isFolded] of byHand) {
    const index = placeOf(id);
    if (index !== undefined) folded[index] = isFolded ? 1 : 0;
  }
  return folded;
}

export function kindsToFlags(spans: TraceSpans, kinds: readonly string[]): Uint8Array {
  return Uint8Array.from(spans.kindNames, (kind) => (kinds.includes(kind) ? 1 : 0));
}

export type KindCount = { kind: string; count: number; failed: number };

/** The kinds of a trace, most frequent first. */
export function countKinds(spans: TraceSpans, failed: Int32Array): KindCount[] {
  const counts = spans.kindNames.map((kind) => ({ kind, count: 0, failed: 0 }));
  for (const kind of spans.kinds) at(counts, kind).count += 1;
  for (const index of failed) at(counts, at(spans.kinds, index)).failed += 1;
  return counts.toSorted((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));
}

export type PlaceOf = (id: string) => number | undefined;

/** Looks up a span by `unique_id`. The index is built at the first lookup: a trace that nobody clicks in needs none. */
export function placesOf({ ids }: TraceSpans): PlaceOf {
  let places: Map<string, number> | undefined;
  return (id) => {
    places ??= new Map(ids.map((each, index) => [each, index]));
    return places.get(id);
  };
}

import { at } from "./at.ts";
import type { TraceSpans } from "./trace-spans.ts";

/** What is folded: spans of some kinds, or (`*`) all of them, and what was opened or closed by hand since. */
export type FoldChoice = { kinds: readonly string[]; byHand: ReadonlyMap<string, boolean> };

export const everyKind = "*";

/** 1 for each span whose descendants are not shown. By hand a span is named by its `unique_id`, which stays when more spans come. */
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

/** The kinds of a trace, the most frequent first. */
export function countKinds(spans: TraceSpans, failed: Int32Array): KindCount[] {
  const counts = spans.kindNames.map((kind) => ({ kind, count: 0, failed: 0 }));
  for (const kind of spans.kinds) at(counts, kind).count += 1;
  for (const index of failed) at(counts, at(spans.kinds, index)).failed += 1;
  return counts.toSorted((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));
}

export type PlaceOf = (id: string) => number | undefined;

/** The span of each `unique_id`. They are put in order when one is first asked for: a trace that nobody clicks in needs none. */
export function placesOf({ ids }: TraceSpans): PlaceOf {
  let places: Map<string, number> | undefined;
  return (id) => {
    places ??= new Map(ids.map((each, index) => [each, index]));
    return places.get(id);
  };
}

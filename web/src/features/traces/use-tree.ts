import { useCallback, useMemo, useState } from "react";
import { at } from "./model/at.ts";
import { foldedSpans, kindsToFlags, placesOf, type PlaceOf } from "./model/fold.ts";
import { foldedAbove, treeRows, type TreeRows } from "./model/rows.ts";
import type { TraceSpans } from "./model/trace-spans.ts";

export type Tree = {
  rows: TreeRows;
  folded: Uint8Array;
  hiddenKinds: Uint8Array;
  placeOf: PlaceOf;
  setFolded: (index: number, isFolded: boolean) => void;
  /** Unfolds the ancestors of a span. */
  reveal: (index: number) => void;
};

const none: readonly string[] = [];

/** The rows of a tree, by the folded and hidden kinds in the URL and the spans folded or unfolded by hand since. */
export function useTree(spans: TraceSpans, search: { fold?: string[] | undefined; hide?: string[] | undefined }): Tree {
  const kinds = search.fold ?? none;
  const [manual, setManual] = useState<{ kinds: readonly string[]; spans: ReadonlyMap<string, boolean> }>();
  // A change of the folded kinds discards folding by hand.
  const byHand = useMemo(
    () =>
      manual !== undefined && manual.kinds.join("\n") === kinds.join("\n") ? manual.spans : new Map<string, boolean>(),
    [manual, kinds],
  );
  const placeOf = useMemo(() => placesOf(spans), [spans]);
  const folded = useMemo(() => foldedSpans(spans, { kinds, byHand }, placeOf), [spans, kinds, byHand, placeOf]);
  const hiddenKinds = useMemo(() => kindsToFlags(spans, search.hide ?? none), [spans, search.hide]);
  const rows = useMemo(() => treeRows(spans, { folded, hiddenKinds }), [spans, folded, hiddenKinds]);
  const fold = useCallback(
    (indexes: readonly number[], isFolded: boolean) => {
      if (indexes.length === 0) return;
      const next = new Map(byHand);
      for (const index of indexes) next.set(at(spans.ids, index), isFolded);
      setManual({ kinds, spans: next });
    },
    [byHand, kinds, spans],
  );
  const setFolded = useCallback((index: number, isFolded: boolean) => fold([index], isFolded), [fold]);
  const reveal = useCallback((index: number) => fold(foldedAbove(spans, folded, index), false), [fold, spans, folded]);
  return { rows, folded, hiddenKinds, placeOf, setFolded, reveal };
}

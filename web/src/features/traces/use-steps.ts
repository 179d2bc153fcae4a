import { useState } from "react";
import { at } from "./model/at.ts";
import { hasRowsBelow, rowFor } from "./model/rows.ts";
import { stepInList, stepInOrder } from "./model/search.ts";
import { usePanelHistory } from "../spans/use-panel-history.ts";
import type { TraceModel } from "./model/trace-model.ts";
import type { ChangeSearch, TraceSearch } from "./search.ts";
import type { Tree } from "./use-tree.ts";

export type Steps = {
  /** Indexes of spans, or -1. */
  cursor: number;
  open: number;
  pick: (index: number) => void;
  close: () => void;
  /** Moves down by rows, or up if negative. */
  move: (rows: number) => void;
  /** `out` folds or goes to the parent; `into` unfolds or goes to the first child. */
  out: () => void;
  into: () => void;
  toError: (step: 1 | -1) => void;
  toSlow: (step: 1 | -1) => void;
  toMatch: (step: 1 | -1) => void;
};

/** The cursor in a trace and its moves. While a span is open, the cursor is on it. */
export function useSteps(
  model: TraceModel,
  tree: Tree,
  search: TraceSearch,
  change: ChangeSearch,
  matches: Int32Array | undefined,
): Steps {
  const [cursorId, setCursorId] = useState<string>();
  const history = usePanelHistory();
  const { spans } = model;
  const { rows, folded, hiddenKinds } = tree;
  const placeOf = (id: string | undefined) => (id === undefined ? -1 : (tree.placeOf(id) ?? -1));
  const open = placeOf(search.span);
  const cursor = placeOf(cursorId ?? search.span);
  const goTo = (index: number | undefined) => {
    const id = index === undefined ? undefined : spans.ids[index];
    if (id === undefined) return;
    setCursorId(id);
    if (search.span !== undefined) change({ span: id }, history.follow);
  };
  const pick = (index: number) => {
    setCursorId(at(spans.ids, index));
    change({ span: at(spans.ids, index) }, search.span === undefined ? history.open : history.follow);
  };
  const jumpTo = (index: number | undefined) => {
    if (index === undefined) return;
    tree.reveal(index);
    goTo(index);
  };
  /** Jumps to failures and slow spans also open the span. */
  const openAt = (index: number | undefined) => {
    if (index === undefined) return;
    tree.reveal(index);
    pick(index);
  };
  return {
    cursor,
    open,
    pick,
    close: () => history.close((step) => change({ span: undefined, panel: undefined }, step)),
    move(by) {
      const row = cursor === -1 ? -1 : rowFor(rows, spans, cursor);
      const last = rows.spans.length - 1;
      goTo(rows.spans[row === -1 ? 0 : Math.min(Math.max(row + by, 0), last)]);
    },
    out() {
      if (cursor === -1) return;
      if (folded[cursor] !== 1 && hasRowsBelow(spans, hiddenKinds, cursor)) tree.setFolded(cursor, true);
      else goTo(rows.spans[rowFor(rows, spans, at(spans.parents, cursor))]);
    },
    into() {
      if (cursor === -1 || !hasRowsBelow(spans, hiddenKinds, cursor)) return;
      if (folded[cursor] === 1) tree.setFolded(cursor, false);
      else goTo(rows.spans[rowFor(rows, spans, cursor) + 1]);
    },
    toError: (step) => openAt(stepInOrder(model.failed, cursor, step)),
    toSlow: (step) => openAt(stepInList(model.slowest, cursor, step)),
    toMatch: (step) => matches && jumpTo(stepInOrder(matches, cursor, step)),
  };
}

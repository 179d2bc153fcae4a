import { at } from "./at.ts";
import type { TraceSpans } from "./trace-spans.ts";

/** Selects the visible part of the tree. */
export type RowChoice = {
  /** 1 for spans whose descendants are hidden. */
  folded: Uint8Array;
  /** 1 for kinds whose spans are hidden; their descendants move up a level. */
  hiddenKinds: Uint8Array;
};

export type TreeRows = {
  /** The span of each row. */
  spans: Int32Array;
  /** The indentation of each row: its depth minus its hidden ancestors. */
  levels: Int32Array;
  /** The row of each span, or -1. */
  rowOf: Int32Array;
};

/** The rows of a tree. 45,000 spans take less than a millisecond, so nothing is cached. */
export function treeRows(spans: TraceSpans, { folded, hiddenKinds }: RowChoice): TreeRows {
  const rows = new Int32Array(spans.count);
  const levels = new Int32Array(spans.count);
  const rowOf = new Int32Array(spans.count).fill(-1);
  // The level of spans at each depth, below the ancestors of the current span.
  const levelAt: number[] = [0];
  let count = 0;
  for (let index = 0; index < spans.count;) {
    const depth = at(spans.depths, index);
    const level = levelAt[depth] ?? 0;
    if (hiddenKinds[at(spans.kinds, index)] === 1) {
      levelAt[depth + 1] = level;
      index += 1;
      continue;
    }
    levelAt[depth + 1] = level + 1;
    rows[count] = index;
    levels[count] = level;
    rowOf[index] = count;
    count += 1;
    index = folded[index] === 1 ? at(spans.ends, index) : index + 1;
  }
  return { spans: rows.subarray(0, count), levels: levels.subarray(0, count), rowOf };
}

/** Whether any descendant of a span could be shown. */
export function hasRowsBelow(spans: TraceSpans, hiddenKinds: Uint8Array, index: number): boolean {
  for (let below = index + 1; below < at(spans.ends, index); below += 1) {
    if (hiddenKinds[at(spans.kinds, below)] !== 1) return true;
  }
  return false;
}

/** The row that represents a span: its own, otherwise that of the nearest ancestor with one. -1 if there is none. */
export function rowFor({ rowOf }: TreeRows, spans: TraceSpans, index: number): number {
  for (let ancestor = index; ancestor >= 0; ancestor = at(spans.parents, ancestor)) {
    const row = rowOf[ancestor] ?? -1;
    if (row >= 0) return row;
  }
  return -1;
}

/** Ancestors that have to be unfolded before a span gets a row. */
export function foldedAbove(spans: TraceSpans, folded: Uint8Array, index: number): number[] {
  const found: number[] = [];
  for (let ancestor = spans.parents[index] ?? -1; ancestor >= 0; ancestor = at(spans.parents, ancestor)) {
    if (folded[ancestor] === 1) found.push(ancestor);
  }
  return found;
}

import { at } from "./at.ts";
import type { TraceSpans } from "./trace-spans.ts";

/** What of the tree is shown. */
export type RowChoice = {
  /** 1 for spans whose descendants are not shown. */
  folded: Uint8Array;
  /** 1 for kinds whose spans are left out; what is below them moves up. */
  hiddenKinds: Uint8Array;
};

export type TreeRows = {
  /** The span of each row. */
  spans: Int32Array;
  /** How far each row is indented: its depth less the ancestors that are left out. */
  levels: Int32Array;
  /** The row of each span, or -1. */
  rowOf: Int32Array;
};

/** The rows of a tree. All of 45,000 are told in less than a millisecond, so that nothing is kept between two choices. */
export function treeRows(spans: TraceSpans, { folded, hiddenKinds }: RowChoice): TreeRows {
  const rows = new Int32Array(spans.count);
  const levels = new Int32Array(spans.count);
  const rowOf = new Int32Array(spans.count).fill(-1);
  // The level of spans that have this depth, below the ancestors of the span at hand.
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

/** Whether there is anything below a span that could be shown. */
export function hasRowsBelow(spans: TraceSpans, hiddenKinds: Uint8Array, index: number): boolean {
  for (let below = index + 1; below < at(spans.ends, index); below += 1) {
    if (hiddenKinds[at(spans.kinds, below)] !== 1) return true;
  }
  return false;
}

/** The row that stands for a span: its own, else that of the nearest ancestor that has one. -1 where none has. */
export function rowFor({ rowOf }: TreeRows, spans: TraceSpans, index: number): number {
  for (let ancestor = index; ancestor >= 0; ancestor = at(spans.parents, ancestor)) {
    const row = rowOf[ancestor] ?? -1;
    if (row >= 0) return row;
  }
  return -1;
}

/** Spans that have to be unfolded before a span has a row. */
export function foldedAbove(spans: TraceSpans, folded: Uint8Array, index: number): number[] {
  const found: number[] = [];
  for (let ancestor = spans.parents[index] ?? -1; ancestor >= 0; ancestor = at(spans.parents, ancestor)) {
    if (folded[ancestor] === 1) found.push(ancestor);
  }
  return found;
}

import { at } from "../lib/at.ts";

/** The fields that determine a span's place in its trace. '' counts as absent. Times sort as text. */
export type TreeSpan = {
  unique_id: string;
  span_unique_id: string;
  span_parent_id: string;
  start_time: string;
  timestamp: string;
};

/** Nodes are indexes into the spans that the tree was built from. */
export type SpanTree = {
  /** Spans without a parent, with a parent that is not here, or at which a cycle was cut; earliest first. */
  roots: number[];
  /** The children of each span, earliest first. */
  children: number[][];
};

/**
 * Arranges the spans of one trace, given in any order. Every span is in the tree once: an orphan is a root, and a cycle
 * is cut above its earliest span. Nothing recurses, so depth has no limit.
 */
export function buildSpanTree(spans: readonly TreeSpan[]): SpanTree {
  const order = spans.map((_, index) => index).sort((a, b) => compareSpans(at(spans, a), at(spans, b)));
  const parents = parentsOf(spans, order);
  breakCycles(parents, order);
  const roots: number[] = [];
  const children = spans.map((): number[] => []);
  for (const index of order) {
    const parent = parents[index] ?? none;
    (parent === none ? roots : at(children, parent)).push(index);
  }
  return { roots, children };
}

const none = -1;

/** The order of siblings, and of candidates for the root. */
export function compareSpans(a: TreeSpan, b: TreeSpan): number {
  return (
    compareText(a.start_time, b.start_time) ||
    compareText(a.timestamp, b.timestamp) ||
    compareText(a.unique_id, b.unique_id)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The parent of each span, or -1. If several spans share an id, the earliest is the parent. */
export function parentsOf(spans: readonly TreeSpan[], byTime: readonly number[]): number[] {
  const byId = new Map<string, number>();
  for (const index of byTime) {
    const id = at(spans, index).span_unique_id;
    if (id !== "" && !byId.has(id)) byId.set(id, index);
  }
  return spans.map(({ span_parent_id: id }, index) => {
    const parent = id === "" ? none : (byId.get(id) ?? none);
    return parent === index ? none : parent;
  });
}

/** Walks up from each span once; a walk that meets itself has found a cycle, whose earliest span loses its parent. */
function breakCycles(parents: number[], order: readonly number[]): void {
  const rank = new Map(order.map((index, place) => [index, place]));
  const walkOf = parents.map(() => none);
  for (const start of order) {
    let index = start;
    while (index !== none && walkOf[index] === none) {
      walkOf[index] = start;
      index = parents[index] ?? none;
    }
    if (index === none || walkOf[index] !== start) continue;
    let earliest = index;
    for (let member = parents[index] ?? none; member !== index; member = parents[member] ?? none) {
      if ((rank.get(member) ?? 0) < (rank.get(earliest) ?? 0)) earliest = member;
    }
    parents[earliest] = none;
  }
}

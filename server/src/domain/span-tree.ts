import { at } from "../lib/at.ts";

/** What the place of a span in its trace follows from. '' counts as absent. Times sort as text. */
export type TreeSpan = {
  unique_id: string;
  span_unique_id: string;
  span_parent_id: string;
  start_time: string;
  timestamp: string;
};

/** Nodes are indexes into the spans that the tree was built from. */
export type SpanTree = {
  /** Spans without a parent, whose parent is not here, or at which a cycle was cut, earliest first. */
  roots: number[];
  /** Of each span its children, earliest first. */
  children: number[][];
};

/**
 * Arranges the spans of one trace, in whatever order they come. Every span is in the tree once: an orphan stands at the
 * top, and a cycle is cut above its earliest span. Nothing recurses, so depth has no limit.
 */
export function buildSpanTree(spans: readonly TreeSpan[]): SpanTree {
  const order = spans.map((_, index) => index).sort((a, b) => compareSpans(at(spans, a), at(spans, b)));
  const parents = parentsOf(spans, order);
  cutCycles(parents, order);
  const roots: number[] = [];
  const children = spans.map((): number[] => []);
  for (const index of order) {
    const parent = parents[index] ?? none;
    (parent === none ? roots : at(children, parent)).push(index);
  }
  return { roots, children };
}

const none = -1;

/** The order of siblings, and of spans that compete for being the root. */
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

/** Of each span the one that it names as its parent, or -1. Of spans that share an id the earliest is meant. */
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
function cutCycles(parents: number[], order: readonly number[]): void {
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

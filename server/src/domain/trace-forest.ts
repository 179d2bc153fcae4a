import { at } from "../lib/at.ts";
import { compareSpans, parentsOf, type TreeSpan } from "./span-tree.ts";

/**
 * The spans of a trace as a forest. Spans whose parents form a cycle are one node: none of them is below another, and
 * everything below one of them is below them all.
 */
export type TraceForest = {
  /** The node of each span. */
  nodeOf: number[];
  /** The parent node of each node, or -1. */
  above: number[];
  /** Nodes, parents before children. */
  order: number[];
  /** The parent of each span, or -1; -1 for those in a cycle. */
  parentOf: number[];
  /** Spans: the root of the trace, then the others by time. */
  speakers: number[];
};

const none = -1;

export function growForest(spans: readonly TreeSpan[]): TraceForest {
  const byTime = spans.map((_, index) => index).sort((a, b) => compareSpans(at(spans, a), at(spans, b)));
  const parents = parentsOf(spans, byTime);
  const circleOf = circlesIn(parents);
  const parentOf = parents.map((parent, index) => (at(circleOf, index) === none ? parent : none));
  const nodeOf: number[] = [];
  const nodeOfCircle = new Map<number, number>();
  let nodes = 0;
  for (const circle of circleOf) {
    let node = circle === none ? undefined : nodeOfCircle.get(circle);
    if (node === undefined) {
      node = nodes;
      nodes += 1;
      if (circle !== none) nodeOfCircle.set(circle, node);
    }
    nodeOf.push(node);
  }
  const above = Array.from({ length: nodes }, () => none);
  for (const [index, parent] of parentOf.entries()) if (parent !== none) above[at(nodeOf, index)] = at(nodeOf, parent);
  const root = rootIn(spans, byTime, parents);
  const speakers = root === undefined ? [] : [root, ...byTime.filter((index) => index !== root)];
  return { nodeOf, above, order: fromTheTop(above), parentOf, speakers };
}

/**
 * The root of a trace: its earliest span without a parent; otherwise the earliest whose parent is not in the trace;
 * otherwise the earliest. Undefined if there is no span.
 */
export function rootOfTrace<Span extends TreeSpan>(spans: readonly Span[]): Span | undefined {
  // Most traces have a span without a parent, and need no sorting.
  const top = spans.filter(({ span_parent_id: parent }) => parent === "");
  if (top.length > 0) return top.reduce((first, span) => (compareSpans(span, first) < 0 ? span : first));
  const byTime = spans.map((_, index) => index).sort((a, b) => compareSpans(at(spans, a), at(spans, b)));
  const root = rootIn(spans, byTime, parentsOf(spans, byTime));
  return root === undefined ? undefined : spans[root];
}

function rootIn(spans: readonly TreeSpan[], byTime: readonly number[], parents: readonly number[]): number | undefined {
  const isOrphan = (index: number): boolean => {
    const { span_parent_id: parent, span_unique_id: own } = at(spans, index);
    return at(parents, index) === none && parent !== own;
  };
  return byTime.find((index) => at(spans, index).span_parent_id === "") ?? byTime.find(isOrphan) ?? byTime[0];
}

/** The number of the cycle that each span is part of, or -1. */
function circlesIn(parents: readonly number[]): number[] {
  const circleOf = parents.map(() => none);
  const walkOf = parents.map(() => none);
  for (let start = 0; start < parents.length; start += 1) {
    let index = start;
    while (index !== none && walkOf[index] === none) {
      walkOf[index] = start;
      index = at(parents, index);
    }
    if (index === none || walkOf[index] !== start) continue;
    for (let member = index; circleOf[member] === none; member = at(parents, member)) circleOf[member] = start;
  }
  return circleOf;
}

function fromTheTop(above: readonly number[]): number[] {
  const below = above.map((): number[] => []);
  const order: number[] = [];
  for (const [node, parent] of above.entries()) {
    if (parent === none) order.push(node);
    else at(below, parent).push(node);
  }
  for (let next = 0; next < order.length; next += 1) for (const node of at(below, at(order, next))) order.push(node);
  return order;
}

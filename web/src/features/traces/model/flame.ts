import { at } from "./at.ts";
import { kindOf, labelOf, textOf, type TraceSpans } from "./trace-spans.ts";

/**
 * A tree whose nodes weigh as much as their spans and all descendants. Stored in columns in tree order, like the spans
 * of a trace.
 */
export type FlameTree = {
  parents: Int32Array;
  ends: Int32Array;
  depths: Int32Array;
  /** Including all descendants. */
  weights: Float64Array;
  /** The first span of each node, and the number of spans it stands for. */
  spans: Int32Array;
  counts: Int32Array;
  total: number;
};

/** One node for each span. */
export function flameOfSpans(spans: TraceSpans, ownWeights: Float64Array): FlameTree {
  return sumUp({
    parents: spans.parents,
    ends: spans.ends,
    depths: spans.depths,
    own: ownWeights,
    spans: Int32Array.from({ length: spans.count }, (_, index) => index),
    counts: new Int32Array(spans.count).fill(1),
  });
}

/** Merges spans with the same kind and name below the same node: a loop of a thousand calls becomes a single bar. */
export function flameOfNames(spans: TraceSpans, ownWeights: Float64Array): FlameTree {
  const places = new Map<string, number>();
  const merged: { first: number; parent: number; own: number; count: number; children: number[] }[] = [];
  const nodeOf = new Int32Array(spans.count);
  const roots: number[] = [];
  for (let index = 0; index < spans.count; index += 1) {
    const parent = at(spans.parents, index) === -1 ? -1 : at(nodeOf, at(spans.parents, index));
    const key = `${parent} ${kindOf(spans, index)} ${labelOf(spans, index)} ${textOf(spans, spans.models, index)}`;
    let node = places.get(key);
    if (node === undefined) {
      node = merged.push({ first: index, parent, own: 0, count: 0, children: [] }) - 1;
      places.set(key, node);
      (merged[parent]?.children ?? roots).push(node);
    }
    nodeOf[index] = node;
    const found = at(merged, node);
    found.own += at(ownWeights, index);
    found.count += 1;
  }
  return sumUp(inOrder(merged, roots));
}

/** Merged nodes are found in the order of their first spans, which differs from the order of the merged tree. */
function inOrder(
  merged: readonly { first: number; own: number; count: number; children: number[] }[],
  roots: readonly number[],
) {
  const size = merged.length;
  const tree = {
    parents: new Int32Array(size),
    ends: new Int32Array(size),
    depths: new Int32Array(size),
    own: new Float64Array(size),
    spans: new Int32Array(size),
    counts: new Int32Array(size),
  };
  let count = 0;
  const levels = [{ nodes: roots, next: 0, parent: -1 }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const node = merged[level.nodes[level.next] ?? -1];
    if (node === undefined) {
      levels.pop();
      if (level.parent !== -1) tree.ends[level.parent] = count;
      continue;
    }
    level.next += 1;
    tree.parents[count] = level.parent;
    tree.depths[count] = levels.length - 1;
    tree.own[count] = node.own;
    tree.spans[count] = node.first;
    tree.counts[count] = node.count;
    levels.push({ nodes: node.children, next: 0, parent: count });
    count += 1;
  }
  return tree;
}

function sumUp({ own, ...tree }: Omit<FlameTree, "weights" | "total"> & { own: Float64Array }): FlameTree {
  const weights = own.map((value) => (Number.isNaN(value) ? 0 : value));
  let total = 0;
  for (let index = weights.length - 1; index >= 0; index -= 1) {
    const parent = at(tree.parents, index);
    if (parent === -1) total += at(weights, index);
    else weights[parent] = at(weights, parent) + at(weights, index);
  }
  return { ...tree, weights, total };
}

/** A bar, in pixels across and levels down. `node` is -1 if the bar stands for several that are too thin. */
export type FlameBar = { node: number; x: number; width: number; level: number };

/**
 * The visible bars: the focus (-1: everything) at full width, its ancestors above it, and its descendants in the levels
 * from `first` to `last`. Nodes thinner than a pixel are merged with their neighbours into one bar and their
 * descendants skipped, so that the number of bars is bounded by the width.
 */
export function flameBars(
  tree: FlameTree,
  view: { focus: number; width: number; first: number; last: number },
): FlameBar[] {
  const { focus, width, first, last } = view;
  const bars: FlameBar[] = [];
  for (let above = tree.parents[focus] ?? -1; above >= 0; above = at(tree.parents, above)) {
    const level = at(tree.depths, above);
    if (level >= first && level <= last) bars.push({ node: above, x: 0, width, level });
  }
  const total = focus === -1 ? tree.total : at(tree.weights, focus);
  if (!(total > 0)) return bars;
  const scale = width / total;
  const start = Math.max(focus, 0);
  const end = focus === -1 ? tree.parents.length : at(tree.ends, focus);
  // The start of the next bar at each depth.
  const nextX: number[] = [];
  const crumbs = new Map<number, FlameBar>();
  for (let node = start; node < end;) {
    const level = at(tree.depths, node);
    const x = node === focus ? 0 : (nextX[level] ?? 0);
    const wide = at(tree.weights, node) * scale;
    nextX[level] = x + wide;
    nextX[level + 1] = x;
    const isThin = wide < 1;
    if (level >= first && level <= last) {
      if (!isThin) bars.push({ node, x, width: wide, level });
      else if (wide > 0) addCrumb(bars, crumbs, { node: -1, x, width: wide, level });
    }
    node = isThin || level >= last ? at(tree.ends, node) : node + 1;
  }
  return bars;
}

/** Merges adjacent thin bars. */
function addCrumb(bars: FlameBar[], crumbs: Map<number, FlameBar>, bar: FlameBar): void {
  const before = crumbs.get(bar.level);
  if (before !== undefined && bar.x - (before.x + before.width) < 0.01) {
    before.width = bar.x + bar.width - before.x;
    return;
  }
  crumbs.set(bar.level, bar);
  bars.push(bar);
}

/** The deepest level with a bar. */
export function flameDepth({ depths }: FlameTree): number {
  return depths.reduce((most, depth) => Math.max(most, depth), 0);
}

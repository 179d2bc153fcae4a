import { at } from "./at.ts";
import { spanFlags, type TraceSpans } from "./trace-spans.ts";

/** Figures of each span that follow from the tree. */
export type TreeTotals = {
  /** Milliseconds of a span during which none of its descendants ran. */
  selfTimes: Float64Array<ArrayBuffer>;
  /** The counted cost and tokens of a span and all its descendants. */
  costs: Float64Array<ArrayBuffer>;
  tokens: Float64Array<ArrayBuffer>;
  /** Failed spans, and model calls without a price, in the subtree including the span itself. */
  failed: Int32Array<ArrayBuffer>;
  unpriced: Int32Array<ArrayBuffer>;
  /** Spans with a known cost, also of 0, in the subtree including the span itself. */
  priced: Int32Array<ArrayBuffer>;
};

export function treeTotals(spans: TraceSpans): TreeTotals {
  const costs = spans.countedCosts.map(orZero);
  const tokens = spans.countedTokens.map(orZero);
  const failed = Int32Array.from(spans.flags, (flags) => ((flags & spanFlags.failed) === 0 ? 0 : 1));
  const unpriced = Int32Array.from(spans.flags, (flags) => ((flags & spanFlags.unpriced) === 0 ? 0 : 1));
  const priced = Int32Array.from(spans.countedCosts, (cost) => (Number.isNaN(cost) ? 0 : 1));
  for (let index = spans.count - 1; index >= 0; index -= 1) {
    const parent = at(spans.parents, index);
    if (parent === -1) continue;
    for (const column of [costs, tokens, failed, unpriced, priced]) {
      column[parent] = at(column, parent) + at(column, index);
    }
  }
  return { selfTimes: selfTimes(spans), costs, tokens, failed, unpriced, priced };
}

const orZero = (value: number): number => (Number.isNaN(value) ? 0 : value);

/**
 * How many ancestors a span that runs on after all of them is compared with: this bounds the time for a chain of such
 * spans.
 */
const ancestorsExamined = 64;

/**
 * The length of a span minus the time that any descendant ran; parallel spans count once. Descendants often run on
 * after their own parent, as tools that a model requested do: that time is not their grandparent's own either.
 */
function selfTimes(spans: TraceSpans): Float64Array<ArrayBuffer> {
  const { starts, finishes, parents } = spans;
  const pieces: { span: number; from: number; to: number }[] = [];
  for (let index = 0; index < spans.count; index += 1) {
    let span = at(parents, index);
    const [from, to] = [at(starts, index), at(finishes, index)];
    for (let step = 0; span !== -1 && step < ancestorsExamined; step += 1) {
      const [low, high] = [Math.max(from, at(starts, span)), Math.min(to, at(finishes, span))];
      if (high > low) pieces.push({ span, from: low, to: high });
      // Ancestors above one that covers the whole span need no own entry.
      if (from >= at(starts, span) && to <= at(finishes, span)) break;
      span = at(parents, span);
    }
  }
  pieces.sort((a, b) => a.span - b.span || a.from - b.from);
  const own = finishes.map((finish, index) => finish - at(starts, index));
  let coveredTo = Number.NEGATIVE_INFINITY;
  let last = -1;
  for (const { span, from, to } of pieces) {
    if (span !== last) coveredTo = Number.NEGATIVE_INFINITY;
    last = span;
    own[span] = at(own, span) - Math.max(0, to - Math.max(from, coveredTo));
    coveredTo = Math.max(coveredTo, to);
  }
  // Rounds off errors of adding fractions of milliseconds.
  return own.map((ms) => Math.max(0, Math.round(ms * 1e6) / 1e6));
}

import { at } from "./at.ts";
import type { TraceSpans } from "./trace-spans.ts";

/** A stretch during which the trace waited for this span itself. Milliseconds since the epoch. */
export type PathStretch = { span: number; from: number; to: number };

export type CriticalPath = {
  /** 1 for spans on the path. */
  isOn: Uint8Array<ArrayBuffer>;
  /** In the order of time, without overlaps, and without gaps below one root. */
  stretches: PathStretch[];
};

/** The stretches of each span, in the order of time. */
export function stretchesBySpan({ stretches }: CriticalPath): Map<number, PathStretch[]> {
  return Map.groupBy(stretches, ({ span }) => span);
}

/**
 * What the end of the trace waited for: from the end backwards, the child that ended last before the moment at hand, then what
 * that waited for, down to the first start. Where no child qualifies it is the span itself. A child ends when all below it has, as
 * tools often run on after the call that asked for them; but a root ends when it says. Iterative: paths may be thousands of spans
 * deep.
 */
export function criticalPath(spans: TraceSpans): CriticalPath {
  const isOn = new Uint8Array(spans.count);
  const stretches: PathStretch[] = [];
  const finishes = lastFinishes(spans);
  const childrenOf = childrenByFinish(spans, finishes);
  const top: Frame = { span: -1, moment: Number.POSITIVE_INFINITY, floor: Number.NEGATIVE_INFINITY, next: 0, taken: 0 };
  const frames = [top];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const child = childrenOf(frame.span)[frame.next];
    if (child === undefined) {
      add(spans, stretches, frame.span, frame.floor, frame.moment);
      frames.pop();
      const above = frames.at(-1);
      if (above !== undefined) above.moment = frame.floor;
      continue;
    }
    frame.next += 1;
    // Nothing waited for what still ran when the next child had started.
    if (frame.taken > 0 && at(finishes, child) > frame.moment) continue;
    // A clock that is behind may place a child before its parent: it counts from the parent's start.
    const floor = Math.max(at(spans.starts, child), frame.floor);
    const moment = Math.min(at(finishes, child), frame.moment);
    if (!(moment > floor)) continue;
    add(spans, stretches, frame.span, moment, frame.moment);
    frame.taken += 1;
    isOn[child] = 1;
    frames.push({ span: child, moment, floor, next: 0, taken: 0 });
  }
  stretches.reverse();
  return { isOn, stretches };
}

/** A span on the way back: between `floor` and `moment` it is not yet told what was waited for. */
type Frame = { span: number; moment: number; floor: number; next: number; taken: number };

/** What lies after the end of a span itself, between things below it, is the time of the ancestor that still ran. */
function add(spans: TraceSpans, stretches: PathStretch[], span: number, from: number, to: number): void {
  const pieces: PathStretch[] = [];
  for (let [runs, low] = [span, from]; runs !== -1 && low < to; runs = at(spans.parents, runs)) {
    const high = Math.min(to, at(spans.finishes, runs));
    if (high <= low) continue;
    pieces.push({ span: runs, from: low, to: high });
    low = high;
  }
  stretches.push(...pieces.reverse());
}

/** When a span and all below it had ended; roots when they say. */
function lastFinishes({ count, parents, finishes }: TraceSpans): Float64Array {
  const last = Float64Array.from(finishes);
  for (let index = count - 1; index >= 0; index -= 1) {
    const parent = at(parents, index);
    if (parent === -1) last[index] = at(finishes, index);
    else last[parent] = Math.max(at(last, parent), at(last, index));
  }
  return last;
}

/** Of each span its children, the one that finished last first; the roots of -1. */
function childrenByFinish({ count, parents }: TraceSpans, finishes: Float64Array): (parent: number) => Int32Array {
  const order = Int32Array.from({ length: count }, (_, index) => index).sort(
    (a, b) => at(parents, a) - at(parents, b) || at(finishes, b) - at(finishes, a) || b - a,
  );
  const firsts = new Int32Array(count + 2);
  for (const parent of parents) firsts[parent + 2] = at(firsts, parent + 2) + 1;
  for (let place = 1; place < firsts.length; place += 1) firsts[place] = at(firsts, place) + at(firsts, place - 1);
  return (parent) => order.subarray(at(firsts, parent + 1), at(firsts, parent + 2));
}

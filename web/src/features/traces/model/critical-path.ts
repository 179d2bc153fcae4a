import { at } from "./at.ts";
import type { TraceSpans } from "./trace-spans.ts";

/** A time range during which the trace waited for this span itself. Milliseconds since the epoch. */
export type PathSegment = { span: number; from: number; to: number };

export type CriticalPath = {
  /** 1 for spans on the path. */
  isOn: Uint8Array<ArrayBuffer>;
  /** Ordered by time, without overlaps, and without gaps below a single root. */
  segments: PathSegment[];
};

/** The segments of each span, ordered by time. */
export function segmentsBySpan({ segments }: CriticalPath): Map<number, PathSegment[]> {
  return Map.groupBy(segments, ({ span }) => span);
}

/**
 * Computes what the end of the trace waited for: going backwards from the end, the child that ended last before the
 * current time, then what that child waited for, down to the first start. If no child qualifies, the span itself
 * counts. A child ends when all its descendants have ended, since tools often run on after the call that requested
 * them; a root ends at its own end time. Iterative, because paths may be thousands of spans deep.
 */
export function criticalPath(spans: TraceSpans): CriticalPath {
  const isOn = new Uint8Array(spans.count);
  const segments: PathSegment[] = [];
  const finishes = lastFinishes(spans);
  const childrenOf = childrenByFinish(spans, finishes);
  const top: Frame = { span: -1, moment: Number.POSITIVE_INFINITY, floor: Number.NEGATIVE_INFINITY, next: 0, taken: 0 };
  const frames = [top];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const child = childrenOf(frame.span)[frame.next];
    if (child === undefined) {
      add(spans, segments, frame.span, frame.floor, frame.moment);
      frames.pop();
      const above = frames.at(-1);
      if (above !== undefined) above.moment = frame.floor;
      continue;
    }
    frame.next += 1;
    // Nothing waited for a child that was still running when the next one started.
    if (frame.taken > 0 && at(finishes, child) > frame.moment) continue;
    // With a slow clock a child may start before its parent: it is clamped to the parent's start.
    const floor = Math.max(at(spans.starts, child), frame.floor);
    const moment = Math.min(at(finishes, child), frame.moment);
    if (!(moment > floor)) continue;
    add(spans, segments, frame.span, moment, frame.moment);
    frame.taken += 1;
    isOn[child] = 1;
    frames.push({ span: child, moment, floor, next: 0, taken: 0 });
  }
  segments.reverse();
  return { isOn, segments };
}

/** A span on the way back: what it waited for between `floor` and `moment` is not determined yet. */
type Frame = { span: number; moment: number; floor: number; next: number; taken: number };

/** Time after the end of the span itself, between its descendants, belongs to the nearest ancestor still running. */
function add(spans: TraceSpans, segments: PathSegment[], span: number, from: number, to: number): void {
  const pieces: PathSegment[] = [];
  for (let [runs, low] = [span, from]; runs !== -1 && low < to; runs = at(spans.parents, runs)) {
    const high = Math.min(to, at(spans.finishes, runs));
    if (high <= low) continue;
    pieces.push({ span: runs, from: low, to: high });
    low = high;
  }
  segments.push(...pieces.reverse());
}

/** When a span and all its descendants had ended; for roots, their own end time. */
function lastFinishes({ count, parents, finishes }: TraceSpans): Float64Array {
  const last = Float64Array.from(finishes);
  for (let index = count - 1; index >= 0; index -= 1) {
    const parent = at(parents, index);
    if (parent === -1) last[index] = at(finishes, index);
    else last[parent] = Math.max(at(last, parent), at(last, index));
  }
  return last;
}

/** The children of each span, the last finished first; roots are the children of -1. */
function childrenByFinish({ count, parents }: TraceSpans, finishes: Float64Array): (parent: number) => Int32Array {
  const order = Int32Array.from({ length: count }, (_, index) => index).sort(
    (a, b) => at(parents, a) - at(parents, b) || at(finishes, b) - at(finishes, a) || b - a,
  );
  const firsts = new Int32Array(count + 2);
  for (const parent of parents) firsts[parent + 2] = at(firsts, parent + 2) + 1;
  for (let place = 1; place < firsts.length; place += 1) firsts[place] = at(firsts, place) + at(firsts, place - 1);
  return (parent) => order.subarray(at(firsts, parent + 1), at(firsts, parent + 2));
}

import { formatCost, formatDuration, formatInteger } from "../../../lib/format.ts";
import { unknownCostText } from "../../../lib/known-cost.ts";
import { at } from "./at.ts";
import type { TraceModel } from "./trace-model.ts";
import { hasFlag, kindOf, labelOf, textOf } from "./trace-spans.ts";

/** Notes on the timing of a span other than its duration. */
function timeNotes({ spans }: TraceModel, index: number): string[] {
  const after = at(spans.finishes, index) - at(spans.finishes, at(spans.parents, index));
  const isUnknown = Number.isNaN(at(spans.durations, index)) && !hasFlag(spans, index, "reversed");
  return [
    ...(isUnknown ? ["No duration is known."] : []),
    ...(after > 0 ? [`Ends ${formatDuration(after / 1000)} after its parent.`] : []),
  ];
}

function firstTokenNote({ spans }: TraceModel, index: number): string[] {
  const ms = at(spans.firstTokens, index);
  return Number.isNaN(ms) ? [] : [`First token after ${formatDuration(ms / 1000)} (the line across the bar)`];
}

/** Notes on inconsistent placement and times of a span. */
export function oddities(model: TraceModel, index: number): string[] {
  const { spans } = model;
  const before = at(spans.starts, at(spans.parents, index)) - at(spans.starts, index);
  const place = placeNote(model, index);
  return [
    ...(place === undefined ? [] : [place]),
    ...(hasFlag(spans, index, "reversed") ? ["Its end was sent as before its start: no duration is known."] : []),
    ...(before > 0 ? [`Starts ${formatDuration(before / 1000)} before its parent: clocks may differ.`] : []),
  ];
}

/** Why a span that names a parent is shown at the top level. */
function placeNote({ spans }: TraceModel, index: number): string | undefined {
  const parent = spans.namedParents.get(index);
  if (parent === undefined) return undefined;
  return hasFlag(spans, index, "orphan")
    ? `Its parent ${parent} is not in this trace.`
    : `Its parents lead back to itself: the circle was cut above it.`;
}

/** A span as a few lines of plain text. */
export function describeSpan(model: TraceModel, index: number): string {
  const { spans, totals } = model;
  const model_ = textOf(spans, spans.models, index);
  const error = textOf(spans, spans.errors, index);
  const below = at(spans.ends, index) - index - 1;
  const lines = [
    `${labelOf(spans, index)} (${kindOf(spans, index)}${model_ === "" ? "" : `, ${model_}`})`,
    `Duration ${formatDuration(at(spans.durations, index) / 1000)}, itself ${formatDuration(at(totals.selfTimes, index) / 1000)}`,
    ...firstTokenNote(model, index),
    ...timeNotes(model, index),
    ...oddities(model, index),
    `Cost ${costOf(model, index)}${below === 0 ? "" : " with all below"}`,
    ...(below === 0 ? [] : [`${formatInteger(below)} ${below === 1 ? "span" : "spans"} below`]),
    error,
  ];
  return lines.filter((line) => line !== "").join("\n");
}

/** The cost of a span and its descendants, as far as it is known. */
export function costOf({ totals }: TraceModel, index: number): string {
  const unpriced = at(totals.unpriced, index);
  const cost = at(totals.costs, index);
  if (unpriced === 0) return at(totals.priced, index) === 0 ? "none" : formatCost(cost);
  const calls = unknownCostText(unpriced);
  return cost === 0 ? calls : `at least ${formatCost(cost)}: ${calls}`;
}

import { at } from "./at.ts";
import type { TraceSpans } from "./trace-spans.ts";

/** A time range in milliseconds since the start of the trace. */
export type TimeWindow = { from: number; to: number };

export type TraceBounds = { startMs: number; endMs: number; lengthMs: number };

/**
 * From the first start to the last end. Spans without any time do not count; a trace without length is a millisecond
 * long.
 */
export function boundsOf({ starts, finishes }: TraceSpans): TraceBounds {
  let startMs = Number.POSITIVE_INFINITY;
  let endMs = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < starts.length; index += 1) {
    if (at(starts, index) < startMs) startMs = at(starts, index);
    if (at(finishes, index) > endMs) endMs = at(finishes, index);
  }
  if (!Number.isFinite(startMs)) return { startMs: 0, endMs: 1, lengthMs: 1 };
  return { startMs, endMs, lengthMs: Math.max(endMs - startMs, 1) };
}

/** The shortest window: a microsecond. The API has nanoseconds, which milliseconds since 1970 cannot represent. */
const shortestMs = 0.001;

/** The window moved into the trace, and shortened to its length; the whole trace if a bound is not finite. */
export function clampWindow({ from, to }: TimeWindow, { lengthMs }: TraceBounds): TimeWindow {
  const length = Math.min(Math.max(to - from, shortestMs), lengthMs);
  const start = Math.min(Math.max(from, 0), lengthMs - length);
  return Number.isFinite(start + length) ? { from: start, to: start + length } : { from: 0, to: lengthMs };
}

/** A `factor` below 1 zooms in. The time `center` keeps its position. */
export function zoomWindow(window: TimeWindow, bounds: TraceBounds, factor: number, center: number): TimeWindow {
  const length = Math.min(Math.max((window.to - window.from) * factor, shortestMs), bounds.lengthMs);
  const share = (center - window.from) / (window.to - window.from);
  const from = center - length * share;
  return clampWindow({ from, to: from + length }, bounds);
}

export function panWindow(window: TimeWindow, bounds: TraceBounds, byMs: number): TimeWindow {
  const length = window.to - window.from;
  const from = Math.min(Math.max(window.from + byMs, 0), Math.max(0, bounds.lengthMs - length));
  return { from, to: from + length };
}

export function isWhole({ from, to }: TimeWindow, { lengthMs }: TraceBounds): boolean {
  return from <= 0 && to >= lengthMs;
}

/** The position of a time range in a window, as shares of its width. */
export type Place = { left: number; width: number; isCutLeft: boolean; isCutRight: boolean };

/** Undefined if the range is outside the window. Times are milliseconds since the epoch. */
export function placeIn(window: TimeWindow, startMs: number, from: number, to: number): Place | undefined {
  const length = window.to - window.from;
  const left = (from - startMs - window.from) / length;
  const right = (to - startMs - window.from) / length;
  if (!(right >= 0 && left <= 1)) return undefined;
  const start = Math.max(left, 0);
  return { left: start, width: Math.min(right, 1) - start, isCutLeft: left < 0, isCutRight: right > 1 };
}

/** Round times in a window: at most `most` steps, so at most one time more. */
export function ticksOf({ from, to }: TimeWindow, most: number): { ticks: number[]; stepMs: number } {
  const stepMs = roundStep((to - from) / Math.max(1, most));
  const first = Math.ceil(from / stepMs - 1e-9);
  const last = Math.floor(to / stepMs + 1e-9);
  return { ticks: Array.from({ length: last - first + 1 }, (_, n) => (first + n) * stepMs), stepMs };
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const longSteps = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14, 30].map((n) => n * day),
];

/** The smallest round step of at least `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const decimal = [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least * (1 - 1e-9)) ?? 10 * power;
  if (decimal < second) return decimal;
  const inDays = () => Math.ceil(least / (30 * day)) * 30 * day;
  return longSteps.find((step) => step >= least * (1 - 1e-9)) ?? inDays();
}

/** The label of a time since the start, in the units of durations, with the precision that the step needs. */
export function tickLabel(ms: number, stepMs: number): string {
  if (ms === 0) return "0";
  if (ms >= minute || stepMs >= minute) return inUnits(ms, stepMs >= second ? 0 : decimals(stepMs / second));
  if (stepMs >= 10 && ms >= second) return `${(ms / second).toFixed(decimals(stepMs / second))} s`;
  if (stepMs >= second) return `${trim(ms / second, 0)} s`;
  if (stepMs < 0.01) return `${(ms * 1000).toFixed(decimals(stepMs * 1000))} µs`;
  return `${ms.toFixed(decimals(stepMs))} ms`;
}

const decimals = (step: number): number => Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
const trim = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

/** `1 min 15 s`, `2 h 30 min`, without units that are zero. */
function inUnits(ms: number, digits: number): string {
  let rest = Number((ms / second).toFixed(digits));
  const texts: string[] = [];
  for (const [unit, size] of [
    ["d", day / second],
    ["h", hour / second],
    ["min", minute / second],
  ] as const) {
    const count = Math.floor(rest / size);
    if (count > 0) texts.push(`${count} ${unit}`);
    rest -= count * size;
  }
  const seconds = rest.toFixed(digits);
  if (Number(seconds) > 0) texts.push(`${seconds} s`);
  return texts.join(" ");
}

/** Parses a zoom from the URL, such as `120-3400.5`. Undefined if it is invalid. */
export function parseZoom(text: string | undefined): TimeWindow | undefined {
  const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? "");
  if (match === null) return undefined;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return to > from && Number.isFinite(to) ? { from, to } : undefined;
}

export function formatZoom({ from, to }: TimeWindow): string {
  return `${Number(from.toFixed(3))}-${Number(to.toFixed(3))}`;
}

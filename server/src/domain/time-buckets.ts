import { Temporal } from "temporal-polyfill";

/** Lengths of the buckets of a time series, in seconds; months are an average. */
export const bucketSeconds = {
  "1m": 60,
  "5m": 300,
  "15m": 900,
  "1h": 3_600,
  "6h": 21_600,
  "1d": 86_400,
  "1w": 604_800,
  "1mo": 2_629_746,
} as const;

export type BucketInterval = keyof typeof bucketSeconds;
export const bucketIntervals = Object.keys(bucketSeconds) as BucketInterval[];

/** Both ends are inclusive. Nanoseconds since the epoch. */
type Window = { startNs: bigint; endNs: bigint };

export function isTimeZone(name: string): boolean {
  try {
    // Offsets such as +01:00 are not names, and have no daylight saving.
    return /^[A-Za-z]/.test(name) && Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name) !== undefined;
  } catch {
    return false;
  }
}

/** The interval whose number of buckets for the window is nearest to `about`, as a ratio. */
export function chooseInterval({ startNs, endNs }: Window, about: number): BucketInterval {
  const seconds = Number(endNs - startNs) / 1e9;
  const distance = (interval: BucketInterval) => Math.abs(Math.log(seconds / bucketSeconds[interval] / about));
  return bucketIntervals.reduce((best, interval) => (distance(interval) < distance(best) ? interval : best));
}

/** Whether a window certainly has more buckets than `max`, so that they need not be computed. */
function isOver({ startNs, endNs }: Window, interval: BucketInterval, max: number): boolean {
  return Number(endNs - startNs) / 1e9 / bucketSeconds[interval] > max * 1.1;
}

/**
 * The starts of the buckets that cover a window, ascending, in seconds since the epoch; the first may be before the
 * window. Hours, days, ISO weeks and months are those of the time zone: a day begins with its first instant, and may
 * have 23 or 25 hours. Undefined if there are more than `max`.
 */
export function bucketStarts(
  window: Window,
  { interval, timeZone, max }: { interval: BucketInterval; timeZone: string; max: number },
): number[] | undefined {
  if (isOver(window, interval, max)) return undefined;
  const [from, to] = [floorSeconds(window.startNs), floorSeconds(window.endNs)];
  const starts: number[] = [];
  for (const start of startsFrom(from, interval, timeZone)) {
    if (start > to) break;
    // The bucket before this one ends where the window begins, or earlier.
    if (start <= from) starts.length = 0;
    starts.push(start);
    if (starts.length > max) return undefined;
  }
  return starts;
}

const floorSeconds = (ns: bigint): number => Math.floor(Number(ns / 1_000_000n) / 1000);

/** An endless sequence of starts, the first of them at or before `from`. */
function* startsFrom(from: number, interval: BucketInterval, timeZone: string): Generator<number> {
  const seconds = bucketSeconds[interval];
  if (seconds < bucketSeconds["1h"]) {
    // Offsets of time zones are multiples of 15 minutes.
    for (let start = Math.floor(from / seconds) * seconds; ; start += seconds) yield start;
  }
  let day = Temporal.Instant.fromEpochMilliseconds(from * 1000)
    .toZonedDateTimeISO(timeZone)
    .startOfDay();
  if (interval === "1w") day = day.subtract({ days: day.dayOfWeek - 1 }).startOfDay();
  if (interval === "1mo") day = day.with({ day: 1 }).startOfDay();
  const step = interval === "1w" ? { weeks: 1 } : interval === "1mo" ? { months: 1 } : { days: 1 };
  for (;;) {
    const next = day.add(step).startOfDay();
    if (interval === "1h") {
      for (let start = secondsOf(day); start < secondsOf(next); start += seconds) yield start;
    } else if (interval === "6h") {
      for (const hour of [0, 6, 12, 18]) yield secondsOf(hour === 0 ? day : day.withPlainTime({ hour }));
    } else yield secondsOf(day);
    day = next;
  }
}

const secondsOf = (time: Temporal.ZonedDateTime): number => time.epochMilliseconds / 1000;

/** A label of a chart's time axis, in the reader's time zone. */

export type Tick = { at: number; label: string };

type LocalTime = { year: number; month: number; day: number; minutes: number };

/**
 * Step sizes in minutes of a day, then in days, then in months. Last what is less round, for a week with room for three
 * labels.
 */
const steps = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720].map((minutes) => ({ unit: "minute", size: minutes }) as const),
  ...[1, 2, 7, 14].map((days) => ({ unit: "day", size: days }) as const),
  ...[1, 2, 3, 6, 12, 24, 60].map((months) => ({ unit: "month", size: months }) as const),
  { unit: "day", size: 3 } as const,
];
type Step = (typeof steps)[number];

/**
 * At most `max` labels for buckets that begin at `starts` (milliseconds), at round times of the zone. Clock changes
 * neither duplicate a label nor shift those after it.
 */
export function timeTicks(starts: readonly number[], timeZone: string, max: number): Tick[] {
  const read = localTimeReader(timeZone);
  const times = starts.map(read);
  for (const step of steps.filter(({ unit }) => isFineEnough(unit, times))) {
    const places = placesOf(times, step);
    if (places.length <= max && (places.length > 1 || starts.length < 3)) return labelled(times, places, step);
  }
  return times.length === 0 ? [] : labelled(times, [0], { unit: "day", size: 1 });
}

/** Buckets of days have no hours to show, and buckets of months no days. */
function isFineEnough(unit: Step["unit"], times: readonly LocalTime[]): boolean {
  const pairs = times.slice(1).map((time, at) => [times[at] ?? time, time] as const);
  if (unit === "minute") return pairs.length === 0 || pairs.some(([before, time]) => isSameDay(before, time));
  return unit === "month" || pairs.length < 2 || pairs.some(([before, time]) => before.month === time.month);
}

function placesOf(times: readonly LocalTime[], step: Step): number[] {
  const areDays = !isFineEnough("minute", times);
  return times.flatMap((time, at) => {
    const before = times[at - 1];
    if (before !== undefined && sameTick(before, time, step)) return [];
    // The window may cut off the start of its first day, which still counts as that day.
    const start = before === undefined && areDays ? { ...time, minutes: 0 } : time;
    return isRound(start, before, step) ? [at] : [];
  });
}

/** When clocks go back, the same local time occurs twice. */
function sameTick(before: LocalTime, time: LocalTime, { unit }: Step): boolean {
  return unit === "minute" && before.minutes === time.minutes && isSameDay(before, time);
}

function isRound(time: LocalTime, before: LocalTime | undefined, { unit, size }: Step): boolean {
  if (unit === "minute") return time.minutes % size === 0;
  // Not every day has a midnight: a day begins with its first bucket.
  const isNewDay = before === undefined ? time.minutes === 0 : !isSameDay(before, time);
  if (unit === "day")
    return isNewDay && (size === 7 || size === 14 ? dayNumber(time) % size === 4 : dayNumber(time) % size === 0);
  const isNewMonth = before === undefined ? isNewDay && time.day === 1 : before.month !== time.month;
  return isNewMonth && (time.year * 12 + time.month - 1) % size === 0;
}

const isSameDay = (one: LocalTime, other: LocalTime): boolean =>
  one.day === other.day && one.month === other.month && one.year === other.year;

/** Days since 1970-01-01, a Thursday: Mondays have the remainder 4. */
const dayNumber = ({ year, month, day }: LocalTime): number => Date.UTC(year, month - 1, day) / 86_400_000;

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function labelled(times: readonly LocalTime[], places: readonly number[], { unit }: Step): Tick[] {
  let before: LocalTime | undefined;
  return places.flatMap((at) => {
    const time = times[at];
    if (time === undefined) return [];
    const label = labelOf(time, before, unit);
    before = time;
    return [{ at, label }];
  });
}

function labelOf(time: LocalTime, before: LocalTime | undefined, unit: Step["unit"]): string {
  const month = months[time.month - 1] ?? "";
  if (unit === "month") return before?.year === time.year ? month : `${month} ${time.year}`;
  if (unit === "day") return `${month} ${time.day}`;
  const isNewDay = before === undefined ? time.minutes === 0 : !isSameDay(before, time);
  if (isNewDay) return `${month} ${time.day}`;
  return `${two(Math.floor(time.minutes / 60))}:${two(time.minutes % 60)}`;
}

const two = (value: number): string => String(value).padStart(2, "0");

function localTimeReader(timeZone: string): (ms: number) => LocalTime {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    hourCycle: "h23",
  });
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    return {
      year: part("year"),
      month: part("month"),
      day: part("day"),
      minutes: part("hour") * 60 + part("minute"),
    };
  };
}

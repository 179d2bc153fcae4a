/**
 * Instants as bigint nanoseconds since 1970-01-01T00:00:00Z, so that no digit of a nanosecond clock is lost. The range
 * is from 1900 to the maximum of a signed 64-bit count of nanoseconds.
 */
const nsPerMs = 1_000_000n;
const nsPerS = 1_000_000_000n;

export const minTimeNs = BigInt(Date.UTC(1900, 0, 1)) * nsPerMs;
export const maxTimeNs = 2n ** 63n - 1n;

const isoPattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:[Zz]|([+\- ])(\d{2}):?(\d{2})?)?)?$/;
const decimalPattern = /^(-?)(\d{1,20})(?:\.(\d+))?$/;

/**
 * Parses an instant; undefined if it is not one, or is outside 1900-01-01 … 2262-04-11.
 *
 * - ISO 8601 with up to 9 fraction digits, `T` or a space, `Z` or an offset; without an offset it is UTC. A space is
 *   accepted for the `+` of an offset, as an unescaped `+` in a URL becomes a space.
 * - An epoch number, or its digits in a string: seconds, milliseconds, microseconds or nanoseconds, by its size.
 */
export function parseTimeNs(value: string | number): bigint | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? parseEpoch(String(value)) : undefined;
  const text = value.trim();
  return parseIso(text) ?? parseEpoch(text);
}

/** ISO 8601 in UTC with as many fraction digits as the instant has, but at least milliseconds. */
export function formatTimeNs(ns: bigint): string {
  const msRemainder = ((ns % nsPerMs) + nsPerMs) % nsPerMs;
  const iso = new Date(Number((ns - msRemainder) / nsPerMs)).toISOString();
  if (msRemainder === 0n) return iso;
  return `${iso.slice(0, -1)}${msRemainder.toString().padStart(6, "0").replace(/0+$/, "")}Z`;
}

/** The stored form, in UTC: `2026-05-05 05:00:00.000000000`, as a DateTime64(9) column expects it. */
export function storedTime(ns: bigint): string {
  let second = Number(ns / nsPerS);
  let nsOfSecond = Number(ns % nsPerS);
  if (nsOfSecond < 0) [second, nsOfSecond] = [second - 1, nsOfSecond + 1e9];
  return `${storedSecond(second * 1000)}.${String(nsOfSecond).padStart(9, "0")}`;
}

const storedSecond = bySecond((ms) => new Date(ms).toISOString().slice(0, 19).replace("T", " "));

const zero = 0x30;

/** Converts a column's text, as `storedTime` writes it, to ISO 8601. */
export function isoTime(stored: string): string {
  const point = stored.indexOf(".");
  let end = stored.length;
  // A hand-written loop, as many rows have several times each.
  while (point !== -1 && end > point + 4 && stored.charCodeAt(end - 1) === zero) end -= 1;
  return `${stored.slice(0, 10)}T${stored.slice(11, end)}Z`;
}

function parseIso(text: string): bigint | undefined {
  const match = isoPattern.exec(text);
  if (match === null) return undefined;
  const year = Number(match[1]);
  const month = Number(match[2]);
  const day = Number(match[3]);
  const hour = Number(match[4] ?? 0);
  const minute = Number(match[5] ?? 0);
  const second = Number(match[6] ?? 0);
  const offsetHour = Number(match[9] ?? 0);
  const offsetMinute = Number(match[10] ?? 0);
  // Date.UTC misreads years below 100, and an offset moves an instant by less than a day.
  if (year < 1899 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return undefined;

  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000 * (match[8] === "-" ? -1 : 1);
  const ms = Date.UTC(year, month - 1, day, hour, minute, second) - offsetMs;
  return withinRange(BigInt(ms) * nsPerMs + BigInt((match[7] ?? "").padEnd(9, "0")));
}

function parseEpoch(text: string): bigint | undefined {
  const match = decimalPattern.exec(text);
  if (match === null) return undefined;
  const whole = BigInt(match[2] ?? "");
  const unit = nsPerUnitBySize(whole);
  const fraction = BigInt((match[3] ?? "").slice(0, 9).padEnd(9, "0"));
  const magnitude = whole * unit + (fraction * unit) / nsPerS;
  return withinRange(match[1] === "-" ? -magnitude : magnitude);
}

/** Seconds reach the year 5138 before they look like milliseconds, and so on by factors of a thousand. */
function nsPerUnitBySize(whole: bigint): bigint {
  if (whole < 100_000_000_000n) return nsPerS;
  if (whole < 100_000_000_000_000n) return nsPerMs;
  if (whole < 100_000_000_000_000_000n) return 1_000n;
  return 1n;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function withinRange(ns: bigint): bigint | undefined {
  return ns >= minTimeNs && ns <= maxTimeNs ? ns : undefined;
}

/** Converts milliseconds to seconds, rounded to nanoseconds, like all times: further fractions of a clock are noise. */
export function secondsOf(ms: number): number {
  return Math.round(ms * 1e6) / 1e9;
}

/**
 * Formats instants whose text is the same for a whole second, and caches the last second: a busy server formats
 * thousands of log lines, responses and rows per second.
 * @param format formats an instant of whole seconds, in milliseconds since the epoch
 */
export function bySecond(format: (ms: number) => string): (ms: number) => string {
  let second = Number.NaN;
  let text = "";
  return (ms) => {
    const current = Math.floor(ms / 1000);
    if (current !== second) [second, text] = [current, format(current * 1000)];
    return text;
  };
}

import { maxTimeNs, minTimeNs } from "../lib/time.ts";
import type { BodyValues } from "./read-body.ts";

export type SpanTimes = {
  /** The END of the span, as `timestamp` means in the interface. */
  timestampNs: bigint;
  startNs: bigint;
  /** Seconds; undefined where nothing tells, never negative. */
  latency: number | undefined;
  /** Whether the end that was stated lies before the start that was stated. */
  isReversed: boolean;
};

/**
 * Completes what is known of a span's times. Stated times are kept as sent, also where clocks disagree: an end before
 * the start gives no latency, and a warning. Exporters that send the latency of a root as 0 get it from start and end.
 */
export function readTimes(
  { timestamp, start_time, latency }: Pick<BodyValues, "timestamp" | "start_time" | "latency">,
  receivedNs: bigint,
): SpanTimes {
  const stated = latency === undefined ? undefined : BigInt(Math.round(latency * 1e9));
  const timestampNs = timestamp ?? (start_time === undefined ? receivedNs : clampNs(start_time + (stated ?? 0n)));
  const startNs = start_time ?? clampNs(timestampNs - (stated ?? 0n));
  const between = timestamp !== undefined && start_time !== undefined ? timestamp - start_time : undefined;
  const isReversed = between !== undefined && between < 0n;
  const computed = between === undefined || isReversed ? undefined : Number(between) / 1e9;
  const known = latency === undefined || latency === 0 ? (computed ?? latency) : latency;
  return { timestampNs, startNs, latency: known, isReversed };
}

function clampNs(ns: bigint): bigint {
  return ns < minTimeNs ? minTimeNs : ns > maxTimeNs ? maxTimeNs : ns;
}

/** `YYYY-MM-DD hh:mm:ss.nnnnnnnnn`, UTC: what a DateTime64(9) column reads. */
export function storedTime(ns: bigint): string {
  return createTimeWriter()(ns);
}

/** `storedTime` for times that lie together, as those of one span: a second is written once where the next time is in it too. */
export function createTimeWriter(): (ns: bigint) => string {
  let [writtenSecond, text] = [Number.NaN, ""];
  return (ns) => {
    let seconds = Number(ns / 1_000_000_000n);
    let nsOfSecond = Number(ns % 1_000_000_000n);
    if (nsOfSecond < 0) {
      seconds -= 1;
      nsOfSecond += 1_000_000_000;
    }
    if (seconds !== writtenSecond) [writtenSecond, text] = [seconds, textOfSecond(seconds)];
    return `${text}.${nineDigits(nsOfSecond)}`;
  };
}

const threeDigits = Array.from({ length: 1_000 }, (_, value) => String(value).padStart(3, "0"));

function nineDigits(value: number): string {
  const thousands = Math.floor(value / 1_000);
  const millions = Math.floor(value / 1_000_000);
  return `${threeDigits[millions]}${threeDigits[thousands - millions * 1_000]}${threeDigits[value - thousands * 1_000]}`;
}

/** Days are counted as if years began in March, so that the leap day is the last (Howard Hinnant, "civil_from_days"). */
function textOfSecond(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const ofDay = seconds - days * 86_400;
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const clock = `${two(Math.floor(ofDay / 3_600))}:${two(Math.floor(ofDay / 60) % 60)}:${two(ofDay % 60)}`;
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)} ${clock}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

import { maxTimeNs, minTimeNs } from "../lib/time.ts";
import type { BodyValues } from "./read-body.ts";

export type SpanTimes = {
  /** The END of the span, as `timestamp` means in the interface. */
  timestampNs: bigint;
  startNs: bigint;
  /** Seconds; undefined where nothing tells, never negative. */
  latency: number | undefined;
};

/**
 * Completes what is known of a span's times. Stated times are kept as sent, also where clocks disagree: an end before
 * the start gives no latency. Exporters that send the latency of a root as 0 get it from start and end.
 */
export function readTimes(
  { timestamp, start_time, latency }: Pick<BodyValues, "timestamp" | "start_time" | "latency">,
  receivedNs: bigint,
): SpanTimes {
  const stated = latency === undefined ? undefined : BigInt(Math.round(latency * 1e9));
  const timestampNs = timestamp ?? (start_time === undefined ? receivedNs : clampNs(start_time + (stated ?? 0n)));
  const startNs = start_time ?? clampNs(timestampNs - (stated ?? 0n));
  const between = timestamp !== undefined && start_time !== undefined ? timestamp - start_time : undefined;
  const computed = between !== undefined && between >= 0n ? Number(between) / 1e9 : undefined;
  return { timestampNs, startNs, latency: latency === undefined || latency === 0 ? (computed ?? latency) : latency };
}

function clampNs(ns: bigint): bigint {
  return ns < minTimeNs ? minTimeNs : ns > maxTimeNs ? maxTimeNs : ns;
}

/** `YYYY-MM-DD hh:mm:ss.nnnnnnnnn`, UTC: what a DateTime64(9) column reads. */
export function storedTime(ns: bigint): string {
  const nsOfSecond = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const iso = new Date(Number((ns - nsOfSecond) / 1_000_000n)).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}.${nsOfSecond.toString().padStart(9, "0")}`;
}

import { maxTimeNs, minTimeNs } from "../../lib/time.ts";
import type { BodyValues } from "./read-body.ts";

export type SpanTimes = {
  /** The END of the span, as in the interface. */
  timestampNs: bigint;
  startNs: bigint;
  /** Seconds, never negative; undefined if unknown. */
  latency: number | undefined;
  /** Whether the stated end is before the stated start. */
  isReversed: boolean;
};

/**
 * Completes the times of a span. Stated times are kept as sent, even if clocks disagree: an end before the start gives
 * no latency, and a warning. A latency of 0, as some exporters send for a root, is replaced by end minus start.
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

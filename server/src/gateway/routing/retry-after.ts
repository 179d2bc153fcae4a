import type { IncomingHttpHeaders } from "node:http";

/** Longer than this is taken for a mistake: no rate limit of a model resets after more than a day. */
const longestMs = 24 * 60 * 60 * 1_000;

/**
 * How long an upstream asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date, which
 * is read against the upstream's own `date`, so that clocks need not agree. Undefined for what is negative, absurd or not
 * readable: back off as if nothing had been said.
 */
export function readRetryAfterMs(headers: IncomingHttpHeaders, nowMs?: number): number | undefined {
  return plausible(decimal(headers["retry-after-ms"])) ?? plausible(readRetryAfter(headers, nowMs));
}

function readRetryAfter(headers: IncomingHttpHeaders, nowMs: number | undefined): number | undefined {
  const text = headers["retry-after"];
  if (text === undefined) return undefined;
  const seconds = decimal(text);
  if (seconds !== undefined) return seconds * 1_000;
  // Date.parse takes "-1" and "5 apples" for years.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const upstreamNowMs = headers.date === undefined ? nowMs : Date.parse(headers.date);
  return upstreamNowMs === undefined ? undefined : Math.max(0, Date.parse(text) - upstreamNowMs);
}

function decimal(text: string | string[] | undefined): number | undefined {
  return typeof text === "string" && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

/** A date in the past asks for nothing; NaN is not ≤ anything. */
function plausible(waitMs: number | undefined): number | undefined {
  return waitMs !== undefined && waitMs <= longestMs ? Math.ceil(waitMs) : undefined;
}

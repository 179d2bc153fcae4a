import type { IncomingHttpHeaders } from "node:http";
import { gatewayLimits } from "../../limits.ts";
import type { UpstreamProblem } from "../provider.ts";
import { redact } from "./redact.ts";

/** What a status alone says of why an upstream did not answer. */
export function kindOfStatus(status: number): UpstreamProblem["kind"] {
  if (status === 401 || status === 402 || status === 403) return "credential";
  if (status === 408 || status === 409 || status === 429 || status === 503 || status === 529) return "busy";
  if (status === 400 || status === 404 || status === 413 || status === 422) return "request";
  return "fault";
}

/**
 * How long an upstream asks to wait: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date. A date is held
 * against the upstream's own clock, its `date` header. `undefined` for what cannot be read, is negative or has passed.
 */
export function retryAfterMs(headers: IncomingHttpHeaders): number | undefined {
  const text = headers["retry-after"] ?? "";
  return (
    positive(decimal(single(headers["retry-after-ms"]))) ??
    positive(decimal(text) * 1_000) ??
    positive(httpDate(text) - httpDate(headers.date ?? ""))
  );
}

/** NaN for all that is no plain decimal number. */
function decimal(text = ""): number {
  return /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN;
}

/** `Date.parse` takes "-1" and "5 apples" for years; a date of HTTP begins with a weekday. */
function httpDate(text: string): number {
  return /^\s*[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
}

function positive(ms: number): number | undefined {
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : undefined;
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** An upstream's own words, bounded and without anything that looks like a key. */
export function upstreamMessage(text: string, fallback: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return fallback;
  // A key that the bound cuts in two would not be known as one.
  const bounded = redact(trimmed.slice(0, 2 * gatewayLimits.upstreamMessageChars));
  return bounded.slice(0, gatewayLimits.upstreamMessageChars).toWellFormed();
}

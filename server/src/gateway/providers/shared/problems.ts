import type { IncomingHttpHeaders } from "node:http";
import { gatewayLimits } from "../../limits.ts";
import type { UpstreamProblem } from "../provider.ts";
import { redact } from "./redact.ts";

/** The kind of an upstream's failure by its status alone. */
export function kindOfStatus(status: number): UpstreamProblem["kind"] {
  if (status === 401 || status === 402 || status === 403) return "credential";
  if (status === 408 || status === 409 || status === 429 || status === 503 || status === 529) return "busy";
  if (status === 400 || status === 404 || status === 413 || status === 422) return "request";
  return "fault";
}

/**
 * The wait that an upstream requests, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as an HTTP
 * date. A date is compared with the upstream's own clock, its `date` header. `undefined` if it cannot be parsed, is
 * negative or has passed.
 */
export function retryAfterMs(headers: IncomingHttpHeaders): number | undefined {
  const text = headers["retry-after"] ?? "";
  return (
    positive(decimal(single(headers["retry-after-ms"]))) ??
    positive(decimal(text) * 1_000) ??
    positive(httpDate(text) - httpDate(headers.date ?? ""))
  );
}

/** NaN if the text is not a plain decimal number. */
function decimal(text = ""): number {
  return /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN;
}

/** `Date.parse` reads "-1" and "5 apples" as years; an HTTP date begins with a weekday. */
function httpDate(text: string): number {
  return /^\s*[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
}

function positive(ms: number): number | undefined {
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : undefined;
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** An upstream's own message, bounded and without anything that looks like a key. */
export function upstreamMessage(text: string, fallback: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return fallback;
  // A key truncated by the bound would not be recognized.
  const bounded = redact(trimmed.slice(0, 2 * gatewayLimits.upstreamMessageChars));
  return bounded.slice(0, gatewayLimits.upstreamMessageChars).toWellFormed();
}

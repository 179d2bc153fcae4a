import { lookUp } from "../../../lib/look-up.ts";
import type { IncomingHttpHeaders } from "node:http";
import { isObject, parseJson } from "../../../lib/json.ts";
import type { UpstreamProblem } from "../provider.ts";
import { kindOfStatus, retryAfterMs, upstreamMessage } from "../shared/problems.ts";

/** The kind of a problem, by the name of its google.rpc.Code, which Gemini sends as `status`. */
const kinds: Readonly<Record<string, UpstreamProblem["kind"]>> = {
  INVALID_ARGUMENT: "request",
  NOT_FOUND: "request",
  OUT_OF_RANGE: "request",
  UNAUTHENTICATED: "credential",
  PERMISSION_DENIED: "credential",
  // A project without billing, or one that may not be used from the caller's location.
  FAILED_PRECONDITION: "credential",
  RESOURCE_EXHAUSTED: "busy",
  UNAVAILABLE: "busy",
  ABORTED: "busy",
  DEADLINE_EXCEEDED: "fault",
  INTERNAL: "fault",
};

/** Reads a response with an error status. Streams wrap it in a list. */
export function readProblem(status: number, headers: IncomingHttpHeaders, bytes: Buffer): UpstreamProblem {
  const parsed = parseJson(bytes);
  const value = parsed.ok ? parsed.value : undefined;
  const body: unknown = Array.isArray(value) ? value[0] : value;
  const error = isObject(body) ? body["error"] : undefined;
  const problem = describe(error, status, isObject(error) ? "" : bytes.toString("utf8"));
  const waitMs = retryAfterMs(headers) ?? problem.retryAfterMs;
  return { ...problem, ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }) };
}

/** Reads an error within a stream, whose status was 200. */
export function readStreamError(error: unknown): UpstreamProblem {
  return describe(error, 200, "");
}

function describe(error: unknown, status: number, otherwise: string): UpstreamProblem {
  const { code, status: name, message, details } = isObject(error) ? error : {};
  const text = upstreamMessage(typeof message === "string" ? message : otherwise, `Gemini answered ${status}`);
  const parsed = readDetails(details);
  const byName = typeof name === "string" ? lookUp(kinds, name) : undefined;
  const byCode = typeof code === "number" && code !== 200 ? kindOfStatus(code) : "fault";
  return {
    kind: isBadKey(parsed.reason, text) ? "credential" : (byName ?? (status === 200 ? byCode : kindOfStatus(status))),
    status,
    message: text,
    ...(typeof name === "string" ? { type: name } : {}),
    ...(parsed.reason === undefined ? {} : { code: parsed.reason }),
    ...(parsed.retryAfterMs === undefined ? {} : { retryAfterMs: parsed.retryAfterMs }),
  };
}

/** Gemini reports an invalid key as 400 INVALID_ARGUMENT. */
function isBadKey(reason: string | undefined, message: string): boolean {
  return reason?.startsWith("API_KEY_") === true || /\bAPI key (?:not valid|expired|not found)/i.test(message);
}

/** `google.rpc.ErrorInfo` has a reason, `google.rpc.RetryInfo` a delay such as `34.4s`. */
function readDetails(details: unknown): { reason?: string; retryAfterMs?: number } {
  const list = Array.isArray(details) ? (details as unknown[]).filter(isObject) : [];
  const reason = list.find((detail) => typeof detail["reason"] === "string")?.["reason"];
  const delay = list.find((detail) => typeof detail["retryDelay"] === "string")?.["retryDelay"];
  const seconds = Number(/^(\d+(?:\.\d+)?)s$/.exec(String(delay))?.[1] ?? Number.NaN);
  return {
    ...(typeof reason === "string" ? { reason } : {}),
    ...(seconds > 0 ? { retryAfterMs: Math.ceil(seconds * 1_000) } : {}),
  };
}

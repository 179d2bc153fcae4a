import { lookUp } from "../../../lib/look-up.ts";
import type { IncomingHttpHeaders } from "node:http";
import { isObject, parseJson } from "../../../lib/json.ts";
import type { UpstreamProblem } from "../provider.ts";
import { kindOfStatus, retryAfterMs, upstreamMessage } from "../shared/problems.ts";

const kinds: Readonly<Record<string, UpstreamProblem["kind"]>> = {
  invalid_request_error: "request",
  not_found_error: "request",
  request_too_large: "request",
  authentication_error: "credential",
  permission_error: "credential",
  billing_error: "credential",
  rate_limit_error: "busy",
  overloaded_error: "busy",
  timeout_error: "fault",
  api_error: "fault",
};

/** Reads a response with an error status. */
export function readProblem(status: number, headers: IncomingHttpHeaders, bytes: Buffer): UpstreamProblem {
  const parsed = parseJson(bytes);
  const error = parsed.ok && isObject(parsed.value) ? parsed.value["error"] : undefined;
  const waitMs = retryAfterMs(headers);
  return {
    ...describe(error, status, isObject(error) ? "" : bytes.toString("utf8")),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  };
}

/** Reads an `error` event of a stream, whose status was 200. */
export function readStreamError(event: Record<string, unknown>): UpstreamProblem {
  return describe(event["error"], 200, "");
}

function describe(error: unknown, status: number, otherwise: string): UpstreamProblem {
  const { type, message } = isObject(error) ? error : { type: undefined, message: error };
  const text = upstreamMessage(typeof message === "string" ? message : otherwise, `Anthropic answered ${status}`);
  const byType = typeof type === "string" ? lookUp(kinds, type) : undefined;
  // A status is more precise than a type, but within a stream there is only the type.
  const byStatus = status === 200 ? (byType ?? "fault") : kindOfStatus(status);
  return {
    kind: isOutOfMoney(text) || byType === "credential" ? "credential" : byStatus,
    status,
    message: text,
    ...(typeof type === "string" ? { type } : {}),
  };
}

/** Anthropic reports an empty account as a 400 `invalid_request_error`, although no request will succeed. */
function isOutOfMoney(message: string): boolean {
  return /credit balance is too low/i.test(message);
}

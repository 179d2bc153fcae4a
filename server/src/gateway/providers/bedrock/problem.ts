import { lookUp } from "../../../lib/look-up.ts";
import type { IncomingHttpHeaders } from "node:http";
import { isObject, parseJson } from "../../../lib/json.ts";
import type { UpstreamProblem } from "../provider.ts";
import { kindOfStatus, retryAfterMs, upstreamMessage } from "../shared/problems.ts";

/** By exception name without its suffix, in lower case: headers and streams spell it differently. */
const kinds: Readonly<Record<string, UpstreamProblem["kind"]>> = {
  throttling: "busy",
  toomanyrequests: "busy",
  servicequotaexceeded: "busy",
  serviceunavailable: "busy",
  modelnotready: "busy",
  modeltimeout: "busy",
  validation: "request",
  resourcenotfound: "request",
  accessdenied: "credential",
  expiredtoken: "credential",
  unrecognizedclient: "credential",
  invalidsignature: "credential",
  incompletesignature: "credential",
  missingauthenticationtoken: "credential",
  internalserver: "fault",
  modelerror: "fault",
  modelstreamerror: "fault",
};

/** Reads a response with an error status: the kind is in a header or in the body. */
export function readProblem(status: number, headers: IncomingHttpHeaders, bytes: Buffer): UpstreamProblem {
  const parsed = parseJson(bytes);
  const body = parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
  const header = headers["x-amzn-errortype"];
  const named = (Array.isArray(header) ? header[0] : header) ?? body?.["__type"];
  // `ThrottlingException:http://internal.amazon.com/…`, or `com.amazon…#ThrottlingException`.
  const type = typeof named === "string" ? named.split(":")[0]?.split("#").at(-1) : undefined;
  const text = body?.["message"] ?? body?.["Message"];
  const waitMs = retryAfterMs(headers);
  return {
    ...describe(type, text ?? (body ? undefined : bytes.toString("utf8")), status),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  };
}

/** Reads an exception within a stream, whose status was 200. */
export function readStreamException(type: string | undefined, payload: Buffer): UpstreamProblem {
  const parsed = parseJson(payload);
  const body = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  return describe(type, body["message"] ?? body["originalMessage"], 200);
}

function describe(type: string | undefined, message: unknown, status: number): UpstreamProblem {
  const name = type?.replace(/(?:Exception|Error)$/, "").toLowerCase() ?? "";
  const otherwise = type === undefined ? `Bedrock answered ${status}` : `Bedrock answered ${type}`;
  return {
    kind: lookUp(kinds, name) ?? (status === 200 ? "fault" : kindOfStatus(status)),
    status,
    message: upstreamMessage(typeof message === "string" ? message : "", otherwise),
    ...(type === undefined || type === "" ? {} : { type }),
  };
}

import type { IncomingHttpHeaders } from "node:http";
import { isObject, parseJson } from "../../../lib/json.ts";
import { BadReply, type UpstreamProblem } from "../provider.ts";
import { kindOfStatus, retryAfterMs, upstreamMessage } from "../shared/problems.ts";

/**
 * Parses a complete reply as a JSON object, unless `value` is it already. `problem` is set if the object reports an
 * error. @throws BadReply if it is not an object
 */
export function readJsonReply({ bytes, value }: { bytes: Buffer; value?: Record<string, unknown> }): {
  reply: Record<string, unknown>;
  problem?: UpstreamProblem;
} {
  const reply = value ?? parsedReply(bytes);
  const problem = readErrorWithin(reply);
  return { reply, ...(problem && { problem }) };
}

function parsedReply(bytes: Buffer): Record<string, unknown> {
  const parsed = parseJson(bytes);
  if (!parsed.ok || !isObject(parsed.value)) throw new BadReply("The provider's response is not a JSON object.");
  return parsed.value;
}

/** Reads a response with a status other than 2xx, in the error shapes of OpenAI-like providers. */
export function readProblem(status: number, headers: IncomingHttpHeaders, bytes: Buffer): UpstreamProblem {
  const parsed = parseJson(bytes);
  const fallback = `The provider answered ${status}.`;
  const wait = retryAfterMs(headers);
  const error = parsed.ok ? readErrorObject(parsed.value) : {};
  const problem: UpstreamProblem = {
    ...error,
    kind: kindOfStatus(status),
    status,
    message: upstreamMessage(error.message ?? "", fallback),
    ...(wait !== undefined && { retryAfterMs: wait }),
  };
  return isAboutMoney(problem) ? { ...problem, kind: "credential" } : problem;
}

/** The error within a stream or a 200 response; undefined if there is none. */
export function readErrorWithin(value: Record<string, unknown>): UpstreamProblem | undefined {
  const error = value["error"] ?? errorBeside(value);
  if (saysNothing(error)) return undefined;
  const parsedError = readErrorObject({ ...value, error });
  const stated = isObject(error) ? Number(error["code"] ?? error["status"]) : Number.NaN;
  const isStatus = Number.isInteger(stated) && stated >= 400 && stated < 600;
  const usage = usageOf(value);
  const words = `${parsedError.type ?? ""} ${parsedError.code ?? ""}`;
  return {
    ...parsedError,
    kind: isStatus ? kindOfStatus(stated) : /rate|overload|capacity|unavailable/i.test(words) ? "busy" : "fault",
    status: 200,
    message: upstreamMessage(parsedError.message ?? "", "The provider reported an error."),
    ...(usage && { usage: usageWithTier(usage, value) }),
  };
}

/** Some successful responses have an empty `error` member. */
function saysNothing(error: unknown): boolean {
  return isObject(error) ? Object.keys(error).length === 0 : !error;
}

/**
 * Other places where a response may report a failure: in a choice (OpenRouter), in a choice's finish reason (Mistral,
 * OpenRouter), below `x_groq`, or as an object that is an error itself (vLLM).
 */
function errorBeside(value: Record<string, unknown>): unknown {
  if (value["object"] === "error") return value;
  const choices = value["choices"];
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (isObject(choice)) {
    if (isObject(choice["error"])) return choice["error"];
    if (choice["finish_reason"] === "error") return "The provider's model failed.";
  }
  const groq = value["x_groq"];
  return isObject(groq) ? groq["error"] : undefined;
}

/** Reads an error event of OpenAI: `{error: …}`, or `{type: "error", message, code}`. */
export function problemOfEvent(event: Record<string, unknown>): UpstreamProblem {
  const error = event["error"] ?? { message: event["message"], code: event["code"] };
  const problem = readErrorWithin({ error, usage: event["usage"] });
  return problem ?? { kind: "fault", status: 200, message: "The provider reported an error." };
}

type ErrorObject = { message?: string; type?: string; param?: string; code?: string };

/**
 * `{error: {message, type, param, code}}` (OpenAI and most), `{error: "…"}`, `{message, type, code}` (Mistral,
 * Cerebras), `{detail: "…" | [{msg, loc}]}` (FastAPI: vLLM, Mistral's 422).
 */
function readErrorObject(value: unknown): ErrorObject {
  if (!isObject(value)) return {};
  const error = value["error"];
  if (typeof error === "string") return { message: error };
  const holder = isObject(error) ? error : value;
  const detail = value["detail"];
  const first: unknown = Array.isArray(detail) ? detail[0] : undefined;
  const message =
    textOf(holder["message"]) ??
    textOf(detail) ??
    (isObject(first) ? textOf(first["msg"]) : undefined) ??
    (isObject(holder["message"]) ? JSON.stringify(holder["message"]) : undefined);
  const type = textOf(holder["type"]);
  const param = textOf(holder["param"]);
  const code = textOf(holder["code"]) ?? (typeof holder["code"] === "number" ? String(holder["code"]) : undefined);
  return {
    ...(message !== undefined && { message }),
    ...(type !== undefined && { type }),
    ...(param !== undefined && { param }),
    ...(code !== undefined && { code }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, maxTextChars) : undefined;
}

const maxTextChars = 8192;

/** Some providers report an empty account with 400 or 429: another credential helps, waiting does not. */
function isAboutMoney({ status, code, type, message }: UpstreamProblem): boolean {
  if (code === "insufficient_quota" || type === "insufficient_quota") return true;
  return (
    (status === 400 || status === 429) &&
    /credit balance is too low|insufficient (?:funds|credits?|balance)/i.test(message)
  );
}

/** The usage of a chunk or of a complete response, if it has numbers; Groq also has it below `x_groq`. */
export function usageOf(holder: Record<string, unknown>): Record<string, unknown> | undefined {
  const own = holder["usage"];
  if (isObject(own) && Object.values(own).some((value) => typeof value === "number")) return own;
  const groq = holder["x_groq"];
  return isObject(groq) && isObject(groq["usage"]) ? groq["usage"] : undefined;
}

/**
 * OpenAI states the tier that served a call beside the usage; pricing expects it within the usage, as Anthropic has it.
 */
export function usageWithTier(
  usage: Record<string, unknown>,
  { service_tier }: Record<string, unknown>,
): Record<string, unknown> {
  return typeof service_tier === "string" && usage["service_tier"] === undefined ? { ...usage, service_tier } : usage;
}

import type { IncomingHttpHeaders } from "node:http";
import { isObject, parseJson } from "../../../lib/json.ts";
import type { UpstreamProblem } from "../provider.ts";
import { usageOf, usageWithTier } from "./usage.ts";
import { kindOfStatus, retryAfterMs, upstreamMessage } from "../shared/problems.ts";

/** What a reply with another status than 2xx says, in the error shapes that OpenAI-like providers have. */
export function readProblem(status: number, headers: IncomingHttpHeaders, bytes: Buffer): UpstreamProblem {
  const parsed = parseJson(bytes);
  const fallback = `The provider answered ${status}.`;
  const wait = retryAfterMs(headers);
  const said = parsed.ok ? readErrorObject(parsed.value) : {};
  const problem: UpstreamProblem = {
    ...said,
    kind: kindOfStatus(status),
    status,
    message: upstreamMessage(said.message ?? "", fallback),
    ...(wait !== undefined && { retryAfterMs: wait }),
  };
  return isAboutMoney(problem) ? { ...problem, kind: "credential" } : problem;
}

/** The error within a stream or within a 200; undefined where the value is none. */
export function readErrorWithin(value: Record<string, unknown>): UpstreamProblem | undefined {
  const error = value["error"] ?? errorBeside(value);
  if (saysNothing(error)) return undefined;
  const said = readErrorObject({ ...value, error });
  const stated = isObject(error) ? Number(error["code"] ?? error["status"]) : Number.NaN;
  const isStatus = Number.isInteger(stated) && stated >= 400 && stated < 600;
  const usage = usageOf(value);
  const words = `${said.type ?? ""} ${said.code ?? ""}`;
  return {
    ...said,
    kind: isStatus ? kindOfStatus(stated) : /rate|overload|capacity|unavailable/i.test(words) ? "busy" : "fault",
    status: 200,
    message: upstreamMessage(said.message ?? "", "The provider reported an error."),
    ...(usage && { usage: usageWithTier(usage, value) }),
  };
}

/** Some answers have the member though all is well. */
function saysNothing(error: unknown): boolean {
  return isObject(error) ? Object.keys(error).length === 0 : !error;
}

/**
 * Where else an answer may say that it failed: in a choice (OpenRouter), by a choice's finish (Mistral, OpenRouter), below `x_groq`,
 * or as an object that is an error as a whole (vLLM).
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

/** What an event of OpenAI's tells that failed: `{error: …}`, or `{type: "error", message, code}`. */
export function problemOfEvent(event: Record<string, unknown>): UpstreamProblem {
  const error = event["error"] ?? { message: event["message"], code: event["code"] };
  const problem = readErrorWithin({ error, usage: event["usage"] });
  return problem ?? { kind: "fault", status: 200, message: "The provider reported an error." };
}

type Said = { message?: string; type?: string; param?: string; code?: string };

/**
 * `{error: {message, type, param, code}}` (OpenAI and most), `{error: "…"}`, `{message, type, code}` (Mistral, Cerebras),
 * `{detail: "…" | [{msg, loc}]}` (FastAPI: vLLM, Mistral's 422).
 */
function readErrorObject(value: unknown): Said {
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

/** An empty account is told with 400 or 429 by some: another credential helps, waiting does not. */
function isAboutMoney({ status, code, type, message }: UpstreamProblem): boolean {
  if (code === "insufficient_quota" || type === "insufficient_quota") return true;
  return (
    (status === 400 || status === 429) &&
    /credit balance is too low|insufficient (?:funds|credits?|balance)/i.test(message)
  );
}

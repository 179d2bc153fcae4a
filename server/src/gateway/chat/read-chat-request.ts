import type { IncomingHttpHeaders } from "node:http";
import { ServiceError } from "../../domain/errors.ts";
import { betaHeaders, routeProviderHeaders } from "../../domain/product-families.ts";
import { countJsonNodes, exceedsShape, isObject, parseStrictJson } from "../../lib/json.ts";
import { domainLimits } from "../../domain/limits.ts";
import { filterLimits } from "../../filter/limits.ts";
import type { CallerBody } from "../providers/openai/request.ts";
import { isServiceParam, type ServiceParams } from "../request/service-params.ts";

/** A parsed chat completion request. */
export type ParsedChatRequest = {
  body: CallerBody;
  params: ServiceParams;
  /** "" if only `models` or a load balancing group names a model. */
  model: string;
  messages: unknown[];
  isStream: boolean;
  /** The caller requested a chunk with the usage of its stream. */
  wantsUsage: boolean;
  /** `echo`: the response repeats the request's messages. */
  echoes: boolean;
  betas: ReadonlySet<string>;
  /** The header `anthropic-beta`: features of Anthropic's API, for providers of Claude models. */
  anthropicBetas: readonly string[];
  routeProvider: string | undefined;
};

/** The members of a request's body. @throws ServiceError `invalid_request`, `payload_too_large` */
export function readMembers(bytes: Buffer): Record<string, unknown> {
  if (bytes.length > domainLimits.bodyNodes && countJsonNodes(bytes, domainLimits.bodyNodes) > domainLimits.bodyNodes) {
    throw new ServiceError(
      "payload_too_large",
      `The body must not hold more than ${domainLimits.bodyNodes} keys and values.`,
    );
  }
  const parsed = parseStrictJson(bytes);
  if (!parsed.ok) throw new ServiceError("invalid_request", `The body is ${parsed.message}.`);
  if (!isObject(parsed.value)) throw new ServiceError("invalid_request", "The body must be a JSON object.");
  if (exceedsShape(parsed.value, filterLimits.spanDepth, domainLimits.spanNodes) !== undefined) {
    const bound = `nests deeper than ${filterLimits.spanDepth} levels or holds more than ${domainLimits.spanNodes} values`;
    throw new ServiceError("invalid_request", `The body ${bound}.`);
  }
  return parsed.value;
}

/** @throws ServiceError `invalid_request` naming the parameter. */
export function readChatRequest(
  body: CallerBody,
  params: ServiceParams,
  headers: IncomingHttpHeaders,
): ParsedChatRequest {
  const { members } = body;
  const { model, messages, stream, echo, stream_options: options } = members;
  if (
    model !== undefined &&
    model !== null &&
    (typeof model !== "string" || model.length > domainLimits.identifierChars)
  ) {
    throw bad("model", `must be a string of at most ${domainLimits.identifierChars} characters`);
  }
  const namesNone = model === undefined || model === null || model === "";
  if (namesNone && (params.models ?? params.load_balance_group ?? params.load_balance_models) === undefined) {
    throw bad("model", "must name a model");
  }
  if (!Array.isArray(messages) || messages.length === 0)
    throw bad("messages", "must be a list of at least one message");
  for (const [index, message] of (messages as unknown[]).entries()) {
    if (!isObject(message)) throw bad(`messages.${index}`, "must be an object");
    if (typeof message["role"] !== "string") throw bad(`messages.${index}.role`, "must be a string");
  }
  flagOrAbsent("stream", stream);
  flagOrAbsent("echo", echo);
  checkTokenBounds(members);
  within("temperature", members["temperature"], 0, 2);
  within("frequency_penalty", members["frequency_penalty"], -2, 2);
  within("presence_penalty", members["presence_penalty"], -2, 2);
  return {
    body,
    params,
    model: namesNone ? "" : model,
    messages: messages as unknown[],
    isStream: stream === true,
    wantsUsage: isObject(options) && options["include_usage"] === true,
    echoes: echo === true,
    anthropicBetas: anthropicBetasOf(headers),
    ...readRouteHeaders(headers),
  };
}

const noAnthropicBetas: readonly string[] = [];

/** Accepts only names, so that nothing else gets into a header. */
function anthropicBetasOf(headers: IncomingHttpHeaders): readonly string[] {
  const sent = headers["anthropic-beta"];
  if (sent === undefined) return noAnthropicBetas;
  const names = (Array.isArray(sent) ? sent : [sent]).flatMap((text) => text.split(",")).map((name) => name.trim());
  const wrong = names.find((name) => name !== "" && !/^[\w.-]{1,128}$/.test(name));
  if (wrong !== undefined) throw bad("anthropic-beta", "must be a list of names of betas, separated by commas");
  return names.filter((name) => name !== "");
}

/** The routing options in a call's headers. */
export function readRouteHeaders(headers: IncomingHttpHeaders): Pick<ParsedChatRequest, "betas" | "routeProvider"> {
  return { betas: betasOf(headers), routeProvider: firstHeader(headers, routeProviderHeaders) };
}

/** Returns the same object if it has no service parameters. */
export function withoutServiceParams(members: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(members);
  if (!names.some(isServiceParam)) return members;
  return Object.fromEntries(names.filter((name) => !isServiceParam(name)).map((name) => [name, members[name]]));
}

const noBetas: ReadonlySet<string> = new Set();

/** The flags of X-Svc-Beta and its legacy names. */
export function betasOf(headers: IncomingHttpHeaders): ReadonlySet<string> {
  if (betaHeaders.every((name) => headers[name] === undefined)) return noBetas;
  const sent = betaHeaders.flatMap((name) => headers[name] ?? []);
  return new Set(sent.flatMap((text) => text.split(",")).map((flag) => flag.trim()));
}

function firstHeader(headers: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

function flagOrAbsent(name: string, value: unknown): void {
  if (value !== undefined && value !== null && typeof value !== "boolean") throw bad(name, "must be true or false");
}

function within(name: string, value: unknown, min: number, max: number): void {
  if (value === undefined || value === null) return;
  if (typeof value !== "number" || !(value >= min && value <= max)) {
    throw bad(name, `must be a number from ${min} to ${max}`);
  }
}

function bad(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", `${param} ${message}.`, { errors: { [param]: [message] } });
}

const bounds = ["max_tokens", "max_completion_tokens", "max_output_tokens", "n"];

/**
 * Requires whole numbers for limits on generated tokens. The budget reservation depends on them, so no provider may
 * read them differently.
 * @throws ServiceError `invalid_request` naming the parameter
 */
export function checkTokenBounds(members: Record<string, unknown>): void {
  for (const name of bounds) {
    const value = members[name];
    if (value === undefined || value === null) continue;
    if (Number.isSafeInteger(value) && (value as number) > 0) continue;
    const message = "must be a whole number of at least 1";
    throw new ServiceError("invalid_request", `${name} ${message}.`, { errors: { [name]: [message] } });
  }
}

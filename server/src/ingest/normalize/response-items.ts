import { messageLogTypes } from "../../domain/span.ts";
import { exceedsShape, isObject, parseJsonText } from "../../lib/json.ts";
import { domainLimits } from "../../domain/limits.ts";
import { filterLimits } from "../../filter/limits.ts";
import { tierOf } from "../../pricing/usage-object.ts";
import { answersOf } from "../../messages/answers.ts";
import { readRequest } from "../../messages/request.ts";
import { readResponse } from "../../messages/response.ts";
import type { BodyValues } from "./read-body.ts";

/**
 * Reads `input`, `output` and `full_response` of a call of the Responses API: lists of items (messages, reasoning,
 * calls and results) become messages if the body has none. The originals are kept unchanged. Any model call without
 * output takes its response from `full_response`.
 */
export function placeResponseItems(values: BodyValues): void {
  if (!(messageLogTypes as readonly unknown[]).includes(values.log_type)) return;
  if (values.log_type === "response") {
    const request = values.prompt_messages === undefined ? readRequest(treeOf(values.input)) : undefined;
    if (request) values.prompt_messages = request.prompt;
    if (request?.tools) values.tools ??= request.tools;
  }
  if ((values.completion_message ?? values.completion_messages) !== undefined) return;
  const given = values.log_type === "response" ? treeOf(values.output) : undefined;
  const answer = readResponse(given) ?? (values.output === undefined ? readResponse(values.full_response) : undefined);
  if (answer === undefined) return;
  const { answer: message, all } = answersOf(answer, values.n);
  if (message) values.completion_message = { ...message };
  if (all) values.completion_messages = [...all];
}

/**
 * The usage of a body: its own object, otherwise that of the provider's response. The service tier comes from the usage
 * object or the response around it; if neither names one, the tier in the request counts, if it names a specific one.
 */
export function usageOfBody(values: BodyValues): Record<string, unknown> | undefined {
  const { usage: own, full_response, full_request } = values;
  const response = isObject(full_response) ? full_response : {};
  const usage = own ?? [response["usage"], response["usageMetadata"]].find(isObject);
  if (usage !== undefined && tierOf(usage) !== undefined) return usage;
  const requestTier = isObject(full_request) ? tierOf(full_request) : undefined;
  const tier = tierOf(response) ?? (requestTier === "auto" || requestTier === "default" ? undefined : requestTier);
  return tier === undefined ? usage : { ...usage, service_tier: tier };
}

function treeOf(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  const parsed = parseJsonText(value);
  const isRetained =
    parsed.ok && exceedsShape(parsed.value, filterLimits.spanDepth, domainLimits.spanNodes) === undefined;
  return isRetained ? parsed.value : value;
}

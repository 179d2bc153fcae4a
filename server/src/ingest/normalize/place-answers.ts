import { domainLimits } from "../../domain/limits.ts";
import { messageLogTypes } from "../../domain/span.ts";
import { filterLimits } from "../../filter/limits.ts";
import { exceedsShape, isObject, parseJsonText } from "../../lib/json.ts";
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

/** The tree that a text is the JSON of, within the bounds of a span; other values as they are. */
function treeOf(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  const parsed = parseJsonText(value);
  const isRetained =
    parsed.ok && exceedsShape(parsed.value, filterLimits.spanDepth, domainLimits.spanNodes) === undefined;
  return isRetained ? parsed.value : value;
}

/**
 * Handles several choices of a model, given as `completion_messages` or as the `choices` of a chat completion in
 * `output`: the one with index 0 becomes the completion message, and all are kept, in order.
 */
export function placeChoices(values: BodyValues): void {
  if (values.log_type !== undefined && !(messageLogTypes as readonly string[]).includes(values.log_type)) return;
  const given = values.completion_messages;
  const messages = given === undefined ? choicesIn(values) : (messagesOf(given) ?? given);
  const first = messages?.[0];
  if (messages === undefined || !isObject(first)) return;
  values.completion_message ??= first;
  if (given !== undefined || messages.length > 1) values.completion_messages = messages;
}

function choicesIn({ completion_message: answer, output }: BodyValues): unknown[] | undefined {
  if (answer !== undefined || output === undefined) return undefined;
  if (typeof output === "string" && !output.includes('"choices"')) return undefined;
  const tree = treeOf(output);
  return isObject(tree) && Array.isArray(tree["choices"]) ? messagesOf(tree["choices"]) : undefined;
}

/** The messages of choices, sorted by index; undefined if the values are not choices. */
function messagesOf(choices: readonly unknown[]): unknown[] | undefined {
  const numbered = choices.map((choice, position) => {
    if (!isObject(choice) || !isObject(choice["message"])) return undefined;
    const { index, message } = choice;
    return { index: typeof index === "number" ? index : position, message };
  });
  if (numbered.length === 0 || numbered.some((choice) => choice === undefined)) return undefined;
  return numbered
    .flatMap((choice) => choice ?? [])
    .toSorted((a, b) => a.index - b.index)
    .map(({ message }) => message);
}

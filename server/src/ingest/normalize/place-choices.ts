import { messageLogTypes } from "../../domain/span.ts";
import { exceedsShape, isObject, parseJsonText } from "../../lib/json.ts";
import { domainLimits } from "../../domain/limits.ts";
import { filterLimits } from "../../filter/limits.ts";
import type { BodyValues } from "./read-body.ts";

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
  const tree = typeof output === "string" ? treeOf(output) : output;
  return isObject(tree) && Array.isArray(tree["choices"]) ? messagesOf(tree["choices"]) : undefined;
}

function treeOf(text: string): unknown {
  if (!/^\s*\{/.test(text) || !text.includes('"choices"')) return undefined;
  const parsed = parseJsonText(text);
  const isRetained =
    parsed.ok && exceedsShape(parsed.value, filterLimits.spanDepth, domainLimits.spanNodes) === undefined;
  return isRetained ? parsed.value : undefined;
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

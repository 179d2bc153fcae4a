import { isObject, isRawNumber } from "../../lib/json.ts";
import type { BodyValues } from "./body-values.ts";

/** Input and output in all forms, and everything else that quotes the conversation. */
const contentFields = [
  "input",
  "output",
  "prompt_messages",
  "completion_message",
  "completion_messages",
  "tools",
  "tool_calls",
  "tool_choice",
  "response_format",
  "stop",
  "span_tools",
  "span_handoffs",
  "full_request",
  "full_response",
  "variables",
  "ideal_output",
  "reasoning",
  "embedding",
  "audio_input_file",
  "audio_output_file",
] as const satisfies ReadonlyArray<keyof BodyValues>;

/** Texts about the call that may quote it. Those of the service itself do not. */
const wordFields = ["error_message", "warnings"] as const satisfies ReadonlyArray<keyof BodyValues>;

/**
 * Removes what `disable_log` forbids to store: keeps figures, names, ids and free data, no content.
 * @param isOurs whether the span is of a call that the service itself made
 */
export function withoutContent(values: BodyValues, { isOurs }: { isOurs: boolean }): BodyValues {
  const retained = { ...values };
  for (const field of contentFields) delete retained[field];
  if (!isOurs) for (const field of wordFields) delete retained[field];
  if (retained.usage !== undefined) retained.usage = figuresOf(retained.usage);
  return retained;
}

/** The numbers of a usage object. The depth of bodies is bounded, so this recursion is too. */
function figuresOf(usage: Record<string, unknown>): Record<string, unknown> {
  const figures: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(usage)) {
    if (isObject(value)) figures[name] = figuresOf(value);
    else if (typeof value === "number" || isRawNumber(value) || value === null) figures[name] = value;
  }
  return figures;
}

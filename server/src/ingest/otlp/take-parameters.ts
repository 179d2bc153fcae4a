import { isObject } from "../../lib/json.ts";
import type { AttributeBag } from "./attribute-bag.ts";

/** Field of the body → what APIs call the parameter. */
const names: Readonly<Record<string, readonly string[]>> = {
  temperature: ["temperature"],
  top_p: ["top_p", "topP"],
  max_tokens: ["max_tokens", "maxTokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"],
  frequency_penalty: ["frequency_penalty", "frequencyPenalty"],
  presence_penalty: ["presence_penalty", "presencePenalty"],
  n: ["n"],
  stop: ["stop", "stop_sequences", "stopSequences"],
  stream: ["stream"],
  tool_choice: ["tool_choice"],
  response_format: ["response_format"],
  encoding_format: ["encoding_format"],
  dimensions: ["dimensions"],
  customer_identifier: ["user"],
};

/** Said on the span itself as well. */
const repeated: ReadonlySet<string> = new Set(["model", "model_name", "instructions"]);

/**
 * The fields among the parameters of a request, which are an object under one key. The other parameters stay under it, as far
 * as they are plain values: some instrumentations put whole responses there.
 */
export function takeParameters(bag: AttributeBag, key: string): Record<string, unknown> {
  const given = bag.peekTree(key);
  if (!isObject(given)) return {};
  const rest = new Map(Object.entries(given));
  const fields: Record<string, unknown> = {};
  for (const [field, aliases] of Object.entries(names)) {
    const alias = aliases.find((name) => isStated(given[name]));
    if (alias === undefined) continue;
    fields[field] = given[alias];
    rest.delete(alias);
  }
  const plain = [...rest].filter(
    ([name, value]) => !repeated.has(name) && isStated(value) && typeof value !== "object",
  );
  bag.drop(key);
  if (plain.length > 0) bag.putBack(key, Object.fromEntries(plain) as Record<string, string | number | boolean>);
  return fields;
}

function isStated(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

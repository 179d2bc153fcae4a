import { isObject } from "../../lib/json.ts";
import type { AttributeBag } from "./attribute-bag.ts";

/** Field of the body → names of the parameter in APIs. */
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

/** Parameters that the span itself contains too. */
const repeated: ReadonlySet<string> = new Set(["model", "model_name", "instructions", "system", "input", "prompt"]);

/** Reads the fields among the parameters of a request. */
export function readParameters(given: unknown): Record<string, unknown> {
  if (!isObject(given)) return {};
  const entries = Object.entries(names).map(
    ([field, aliases]) => [field, given[aliasIn(given, aliases) ?? ""]] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => isStated(value)));
}

/**
 * Reads the model and the fields among the parameters of a request: all that instrumentations report of a failed call.
 */
export function readCall(given: unknown): Record<string, unknown> {
  if (!isObject(given)) return {};
  const model = [given["model"], given["model_name"], given["modelId"]].find((name) => typeof name === "string");
  return { ...(model !== undefined && { model }), ...readParameters(given) };
}

/** Reads a call, as `readCall` does, from attributes that have the names of its parameters. Takes attributes that become fields out of the bag. */
export function takeCall(bag: AttributeBag): Record<string, unknown> {
  const keys = ["model", ...Object.values(names).flat()];
  const given = Object.fromEntries(keys.map((key) => [key, bag.peekTree(key)] as const));
  const read = readCall(given);
  const taken = new Set(Object.values(read));
  for (const key of keys) if (taken.has(given[key])) bag.drop(key);
  return read;
}

/**
 * Takes the parameters that became fields from a key. The others stay if they are plain values, or are found nowhere
 * else: some instrumentations put whole requests and responses there.
 */
export function leaveParameters(bag: AttributeBag, key: string): void {
  const given = bag.peekTree(key);
  if (!isObject(given)) return;
  const read = new Set(Object.values(names).map((aliases) => aliasIn(given, aliases)));
  const isPlain = ([name, value]: [string, unknown]): boolean =>
    !read.has(name) && !repeated.has(name) && isStated(value) && typeof value !== "object";
  const { plain = [], other = [] } = Object.groupBy(Object.entries(given), (member) =>
    isPlain(member) ? "plain" : "other",
  );
  const left =
    plain.length === 0 ? undefined : (Object.fromEntries(plain) as Record<string, string | number | boolean>);
  bag.restore(key, left, Object.fromEntries(other));
}

export function consumeParameters(bag: AttributeBag, key: string): Record<string, unknown> {
  const fields = readParameters(bag.peekTree(key));
  leaveParameters(bag, key);
  return fields;
}

function aliasIn(given: Record<string, unknown>, aliases: readonly string[]): string | undefined {
  return aliases.find((name) => isStated(given[name]));
}

function isStated(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

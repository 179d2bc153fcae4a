import { lookUp } from "../../../lib/look-up.ts";
import { isObject } from "../../../lib/json.ts";
import { foreignMembers } from "../dialect.ts";
import type { ChatRequest } from "../provider.ts";
import { presentMembers, refuse } from "./refuse.ts";

/**
 * How OpenAI's parameters without a counterpart at a provider are treated. One policy for all translators:
 * - `refuse`: the response would lack something that the caller expects. 400, naming the parameter.
 * - `leave out`: the response is as good without it. Not sent, and named in `UpstreamCall.adjusted`. Values without
 *   effect (`n: 1`, `logprobs: false`, penalties of 0, null) are omitted without a report. Members of another
 *   provider's dialect are omitted and reported too. Members that no table has are the provider's own and are passed on
 *   unchanged.
 */
type Treatment = { otherwise: "refuse" | "leave out"; isNothing: (value: unknown) => boolean };

const isZero = (value: unknown): boolean => value === 0;
const isFalse = (value: unknown): boolean => value === false;
const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
const never = (): boolean => false;
const always = (): boolean => true;

const treatments: Readonly<Record<string, Treatment>> = {
  n: { otherwise: "refuse", isNothing: (value) => value === 1 },
  logprobs: { otherwise: "refuse", isNothing: isFalse },
  top_logprobs: { otherwise: "refuse", isNothing: isZero },
  logit_bias: { otherwise: "refuse", isNothing: isEmpty },
  audio: { otherwise: "refuse", isNothing: never },
  modalities: {
    otherwise: "refuse",
    isNothing: (value) => Array.isArray(value) && value.every((modality) => modality === "text"),
  },
  tools: { otherwise: "refuse", isNothing: isEmpty },
  functions: { otherwise: "refuse", isNothing: isEmpty },
  function_call: { otherwise: "refuse", isNothing: (value) => value === "none" || value === "auto" },
  web_search_options: { otherwise: "refuse", isNothing: never },

  frequency_penalty: { otherwise: "leave out", isNothing: isZero },
  presence_penalty: { otherwise: "leave out", isNothing: isZero },
  seed: { otherwise: "leave out", isNothing: never },
  temperature: { otherwise: "leave out", isNothing: (value) => value === 1 },
  top_p: { otherwise: "leave out", isNothing: (value) => value === 1 },
  stop: { otherwise: "leave out", isNothing: isEmpty },
  reasoning_effort: { otherwise: "leave out", isNothing: never },
  parallel_tool_calls: { otherwise: "leave out", isNothing: (value) => value === true },
  prediction: { otherwise: "leave out", isNothing: never },
  verbosity: { otherwise: "leave out", isNothing: (value) => value === "medium" },
  service_tier: { otherwise: "leave out", isNothing: (value) => value === "auto" || value === "default" },
  moderation: { otherwise: "leave out", isNothing: never },
  store: { otherwise: "leave out", isNothing: isFalse },
  user: { otherwise: "leave out", isNothing: never },

  // The gateway itself returns the prompt.
  echo: { otherwise: "leave out", isNothing: always },

  // They control OpenAI's storage, or name whom a call is for, and do not affect the response.
  metadata: { otherwise: "leave out", isNothing: always },
  prompt_cache_key: { otherwise: "leave out", isNothing: always },
  prompt_cache_retention: { otherwise: "leave out", isNothing: always },
  safety_identifier: { otherwise: "leave out", isNothing: always },
  stream_options: { otherwise: "leave out", isNothing: always },
};

/** Alternatives to refused parameters. */
const alternatives: Readonly<Record<string, string>> = {
  n: "send the request once for each answer",
  logprobs: "name a model of OpenAI or Gemini",
  top_logprobs: "name a model of OpenAI or Gemini",
  logit_bias: "say in the prompt what to avoid",
  audio: "ask for text, or name a model of OpenAI that speaks",
  modalities: "ask for text, or name a model that answers with more",
  tools: "name a model that calls tools",
  functions: "send them as tools",
  function_call: "send it as tool_choice",
  web_search_options: "give the model a search tool of its own in tools, or name one of OpenAI, Anthropic or Gemini",
};

/** @throws ServiceError naming the parameter and an alternative */
export function refuseParameter(name: string, provider: string): never {
  const instead = lookUp(alternatives, name);
  return refuse(name, `is not supported by ${provider}${instead === undefined ? "" : `: ${instead}`}`);
}

/** Applies the policy to a parameter that a provider lacks. */
export function lackOf(name: string, value: unknown): "nothing" | "refuse" | "leave out" {
  const treatment = lookUp(treatments, name);
  if (value === null || value === undefined || treatment?.isNothing(value) === true) return "nothing";
  return treatment?.otherwise ?? "leave out";
}

export type Parameters = {
  /** The members of the chat that are not null and that the policy keeps. */
  members: Record<string, unknown>;
  /** Those of them that no table has: the provider's own. */
  foreign: Record<string, unknown>;
  adjusted: string[];
};

/** The members that every translator reads. */
const common = [
  "model",
  "messages",
  "stream",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "stop",
  "stop_sequences",
  "reasoning_effort",
  "thinking",
] as const;

/**
 * Applies the policy.
 * @param provider its name for error messages
 * @param handled members that the translator reads besides the common ones; the policy does not touch them
 */
export function readParameters(chat: ChatRequest, provider: string, handled: readonly string[]): Parameters {
  const known = new Set<string>([...common, ...handled]);
  // Entries, because `__proto__` cannot be assigned.
  const members: Array<[string, unknown]> = [];
  const foreign: Array<[string, unknown]> = [];
  const adjusted: string[] = [];
  for (const [name, value] of Object.entries(presentMembers(chat))) {
    const treatment = known.has(name) ? undefined : lookUp(treatments, name);
    if (!treatment && !known.has(name) && foreignMembers.has(name)) adjusted.push(name);
    else if (!treatment) {
      members.push([name, value]);
      if (!known.has(name)) foreign.push([name, value]);
    } else if (!treatment.isNothing(value)) {
      if (treatment.otherwise === "refuse") refuseParameter(name, provider);
      adjusted.push(name);
    }
  }
  return { members: Object.fromEntries(members), foreign: Object.fromEntries(foreign), adjusted };
}

/** The maximum of generated tokens; the newer name takes precedence. */
export function readMaxTokens(members: Record<string, unknown>): number | undefined {
  const name = members["max_completion_tokens"] === undefined ? "max_tokens" : "max_completion_tokens";
  const value = members[name];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1)
    return refuse(name, "must be a whole number of at least 1");
  return value;
}

/** `stop` as a list. Blank texts are omitted and reported: some providers, such as Anthropic, refuse them. */
export function readStop(members: Record<string, unknown>, adjusted: string[]): string[] {
  const stop = members["stop"] ?? members["stop_sequences"];
  if (stop === undefined) return [];
  const list: unknown[] = Array.isArray(stop) ? stop : [stop];
  const texts = list.map((text) =>
    typeof text === "string" ? text : refuse("stop", "must be text or a list of texts"),
  );
  const nonEmpty = texts.filter((text) => text.trim() !== "");
  if (nonEmpty.length < texts.length) adjusted.push("stop");
  return nonEmpty;
}

/** A number between two bounds, both inclusive. */
export function readNumber(
  members: Record<string, unknown>,
  name: string,
  min: number,
  max: number,
): number | undefined {
  const value = members[name];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || value < min || value > max)
    return refuse(name, `must be a number from ${min} to ${max}`);
  return value;
}

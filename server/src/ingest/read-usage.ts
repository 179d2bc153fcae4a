import { normalizeUsage, type RawUsage, type Usage } from "../domain/usage.ts";
import { isObject } from "../lib/json.ts";
import { count, money } from "./field-readers.ts";
import type { BodyValues } from "./read-body.ts";

/**
 * The usage of a span body: its own token fields first, what they leave open from its `usage` object, in the shapes
 * of OpenAI chat, OpenAI responses, Anthropic, DeepSeek and Perplexity. Members that are no counts are passed over: the object
 * itself is kept as it was sent.
 */
export function readUsage(values: BodyValues): Usage | undefined {
  const stated = values.usage ? fromUsageObject(values.usage) : {};
  return normalizeUsage({
    ...stated,
    input: values.prompt_tokens ?? stated.input,
    output: values.completion_tokens ?? stated.output,
    total: values.total_tokens ?? stated.total,
    cacheRead: values.prompt_cache_hit_tokens ?? stated.cacheRead,
    cacheWrite: values.prompt_cache_creation_tokens ?? stated.cacheWrite,
    cacheWrite1h: values.cache_creation_1h_tokens ?? stated.cacheWrite1h,
    reasoning: values.reasoning_tokens ?? stated.reasoning,
    audioInput: values.audio_prompt_tokens ?? stated.audioInput,
    audioOutput: values.audio_completion_tokens ?? stated.audioOutput,
  });
}

/** The usage that an object of an upstream's reply states; undefined where it holds no counts. */
export function readUsageObject(usage: Record<string, unknown>): Usage | undefined {
  return normalizeUsage(fromUsageObject(usage));
}

function fromUsageObject(usage: Record<string, unknown>): RawUsage {
  const promptDetails = firstObject(usage["prompt_tokens_details"], usage["input_tokens_details"]);
  const completionDetails = firstObject(usage["completion_tokens_details"], usage["output_tokens_details"]);
  const cacheCreation = firstObject(usage["cache_creation"]);
  const isAnthropic =
    usage["prompt_tokens"] === undefined &&
    ("cache_read_input_tokens" in usage || "cache_creation_input_tokens" in usage || "cache_creation" in usage);
  return {
    input: firstCount(usage["prompt_tokens"], usage["input_tokens"]),
    output: firstCount(usage["completion_tokens"], usage["output_tokens"]),
    total: firstCount(usage["total_tokens"]),
    cacheRead: firstCount(
      promptDetails["cached_tokens"],
      usage["cache_read_input_tokens"],
      usage["prompt_cache_hit_tokens"],
    ),
    cacheWrite: firstCount(
      promptDetails["cache_creation_tokens"],
      usage["cache_creation_input_tokens"],
      usage["cache_creation_prompt_tokens"],
    ),
    cacheWrite5m: firstCount(cacheCreation["ephemeral_5m_input_tokens"]),
    cacheWrite1h: firstCount(cacheCreation["ephemeral_1h_input_tokens"]),
    reasoning: firstCount(completionDetails["reasoning_tokens"]),
    audioInput: firstCount(promptDetails["audio_tokens"]),
    audioOutput: firstCount(completionDetails["audio_tokens"]),
    webSearches: firstCount(firstObject(usage["server_tool_use"])["web_search_requests"], usage["num_search_queries"]),
    serviceTier: tierOf(usage),
    billedUsd: billedUsd(usage),
    convention: isAnthropic ? "exclusive" : "inclusive",
  };
}

/** Anthropic tells its fast mode apart from its tiers, none of which it goes together with. */
export function tierOf({ service_tier: tier, speed }: Record<string, unknown>): string | undefined {
  if (speed === "fast") return speed;
  return typeof tier === "string" ? tier : undefined;
}

const ticksPerUsd = 1e10;

/**
 * The bill for a call, where its provider sends it with the usage: xAI in ticks, Perplexity by its parts, OpenRouter as `cost`, beside
 * which the owner of a key of one's own pays its provider. 0 says nothing, as it does where a price is not known.
 */
function billedUsd(usage: Record<string, unknown>): number | undefined {
  const { cost, cost_in_usd_ticks: ticks, is_byok: hasOwnKey } = usage;
  if (typeof ticks === "number") return usd(ticks / ticksPerUsd);
  if (isObject(cost)) return usd(cost["total_cost"]);
  const beside = hasOwnKey === true ? usd(firstObject(usage["cost_details"])["upstream_inference_cost"]) : undefined;
  return typeof cost === "number" ? usd(cost + (beside ?? 0)) : undefined;
}

function usd(value: unknown): number | undefined {
  const read = typeof value === "number" ? money(value) : undefined;
  return typeof read === "number" && read > 0 ? read : undefined;
}

const nothing: Record<string, unknown> = Object.freeze({});

function firstObject(...values: unknown[]): Record<string, unknown> {
  return values.find(isObject) ?? nothing;
}

function firstCount(...values: unknown[]): number | undefined {
  for (const value of values) {
    if (value === undefined || value === null) continue;
    const read = count(value);
    if (typeof read === "number") return read;
  }
  return undefined;
}

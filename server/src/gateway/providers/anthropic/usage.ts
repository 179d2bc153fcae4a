import { cacheWritesOf } from "../../../domain/usage.ts";
import { tierOf } from "../../../pricing/usage-object.ts";
import { isObject } from "../../../lib/json.ts";
import type { ChatUsage } from "../provider.ts";

/** Anthropic counts cache reads and writes separately from `input_tokens`; OpenAI's count includes both. */
export function toUsage(usage: Record<string, unknown>): ChatUsage | undefined {
  const input = count(usage["input_tokens"]);
  const output = count(usage["output_tokens"]);
  if (input === undefined && output === undefined) return undefined;
  const read = count(usage["cache_read_input_tokens"]);
  const lifetimes = writesByLifetime(usage["cache_creation"]);
  const written = cacheWritesOf({
    cacheWrite: count(usage["cache_creation_input_tokens"]),
    cacheWrite5m: lifetimes.cache_creation?.ephemeral_5m_input_tokens,
    cacheWrite1h: lifetimes.cache_creation?.ephemeral_1h_input_tokens,
  });
  const details = isObject(usage["output_tokens_details"]) ? usage["output_tokens_details"] : {};
  const tier = tierOf(usage);
  const reasoning = count(details["thinking_tokens"]);
  const prompt = (input ?? 0) + (read ?? 0) + (written ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: output ?? 0,
    total_tokens: prompt + (output ?? 0),
    prompt_tokens_details: { cached_tokens: read ?? 0, cache_creation_tokens: written ?? 0 },
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
    ...(read === undefined ? {} : { cache_read_input_tokens: read }),
    ...(written === undefined ? {} : { cache_creation_input_tokens: written }),
    ...lifetimes,
    ...searches(usage["server_tool_use"]),
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(typeof usage["inference_geo"] === "string" ? { inference_geo: usage["inference_geo"] } : {}),
  };
}

/**
 * Later figures replace earlier ones, as they are totals; members that a later event omits or sets to null are kept.
 */
export function mergeUsage(earlier: Record<string, unknown>, later: unknown): Record<string, unknown> {
  if (!isObject(later)) return earlier;
  return { ...earlier, ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)) };
}

function writesByLifetime(creation: unknown): Pick<ChatUsage, "cache_creation"> {
  if (!isObject(creation)) return {};
  const short = count(creation["ephemeral_5m_input_tokens"]);
  const long = count(creation["ephemeral_1h_input_tokens"]);
  if (short === undefined && long === undefined) return {};
  return {
    cache_creation: {
      ...(short === undefined ? {} : { ephemeral_5m_input_tokens: short }),
      ...(long === undefined ? {} : { ephemeral_1h_input_tokens: long }),
    },
  };
}

function searches(tools: unknown): Pick<ChatUsage, "server_tool_use"> {
  const made = isObject(tools) ? count(tools["web_search_requests"]) : undefined;
  return made === undefined ? {} : { server_tool_use: { web_search_requests: made } };
}

export function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

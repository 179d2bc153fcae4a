import { cacheWritesOf } from "../../../domain/usage.ts";
import { isObject } from "../../../lib/json.ts";
import type { ChatUsage } from "../provider.ts";

/**
 * Bedrock counts cache reads and writes separately from `inputTokens`; OpenAI's count includes both.
 * @param serviceTier `{type}` of the response: the tier that served the call
 */
export function toUsage(usage: unknown, serviceTier?: unknown): ChatUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = count(usage["inputTokens"]);
  const output = count(usage["outputTokens"]);
  if (input === undefined && output === undefined) return undefined;
  const read = count(usage["cacheReadInputTokens"]);
  const lifetimes = writesByLifetime(usage["cacheDetails"]);
  const written = cacheWritesOf({
    cacheWrite: count(usage["cacheWriteInputTokens"]),
    cacheWrite5m: lifetimes.cache_creation?.ephemeral_5m_input_tokens,
    cacheWrite1h: lifetimes.cache_creation?.ephemeral_1h_input_tokens,
  });
  const prompt = (input ?? 0) + (read ?? 0) + (written ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: output ?? 0,
    total_tokens: prompt + (output ?? 0),
    prompt_tokens_details: { cached_tokens: read ?? 0, cache_creation_tokens: written ?? 0 },
    ...(read === undefined ? {} : { cache_read_input_tokens: read }),
    ...(written === undefined ? {} : { cache_creation_input_tokens: written }),
    ...lifetimes,
    ...(isObject(serviceTier) && typeof serviceTier["type"] === "string" ? { service_tier: serviceTier["type"] } : {}),
  };
}

function writesByLifetime(details: unknown): Pick<ChatUsage, "cache_creation"> {
  if (!Array.isArray(details) || details.length === 0) return {};
  const of = (ttl: string): number =>
    (details as unknown[]).reduce<number>(
      (sum, detail) => (isObject(detail) && detail["ttl"] === ttl ? sum + (count(detail["inputTokens"]) ?? 0) : sum),
      0,
    );
  return { cache_creation: { ephemeral_5m_input_tokens: of("5m"), ephemeral_1h_input_tokens: of("1h") } };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

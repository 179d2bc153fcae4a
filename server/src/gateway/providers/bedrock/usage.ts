import { isObject } from "../../../lib/json.ts";
import { count, toUsage as usageOfAnthropic } from "../anthropic/usage.ts";
import type { ChatUsage } from "../provider.ts";

/**
 * Bedrock counts as Anthropic does, under other names.
 * @param serviceTier `{type}` of the response: the tier that served the call
 */
export function toUsage(usage: unknown, serviceTier?: unknown): ChatUsage | undefined {
  if (!isObject(usage)) return undefined;
  return usageOfAnthropic({
    input_tokens: usage["inputTokens"],
    output_tokens: usage["outputTokens"],
    cache_read_input_tokens: usage["cacheReadInputTokens"],
    cache_creation_input_tokens: usage["cacheWriteInputTokens"],
    cache_creation: writesByLifetime(usage["cacheDetails"]),
    serviceTier,
  });
}

function writesByLifetime(details: unknown) {
  if (!Array.isArray(details) || details.length === 0) return undefined;
  const of = (ttl: string): number =>
    (details as unknown[]).reduce<number>(
      (sum, detail) => (isObject(detail) && detail["ttl"] === ttl ? sum + (count(detail["inputTokens"]) ?? 0) : sum),
      0,
    );
  return { ephemeral_5m_input_tokens: of("5m"), ephemeral_1h_input_tokens: of("1h") };
}

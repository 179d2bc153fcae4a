import { cacheWritesOf, type RawUsage } from "../../../domain/usage.ts";
import { isObject } from "../../../lib/json.ts";
import { readUsageMembers } from "../../../pricing/usage-object.ts";
import * as read from "../../../validation/field-readers.ts";
import { asText, type AttributeBag } from "../attribute-bag.ts";

/**
 * The usage of a call of the AI SDK 3 to 6. `ai.usage.*` counts as the SDK's provider package does: up to version 5 the
 * packages for Anthropic and Bedrock passed on an input without the cached tokens, which `ai.usage` lacks in whole or
 * in part; from version 6 on all of them include it. The provider's own usage is in the metadata, and proves which of
 * the two applies if it contains the input too. (vercel/ai packages; getsentry/sentry-javascript#21484)
 */
export function aiSdkUsage(bag: AttributeBag): RawUsage {
  const stated = ofProvider(bag);
  const isSplit = bag.keysWith("ai.usage.inputTokenDetails.").length > 0;
  const input = take(bag, "ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens");
  const cacheRead = take(bag, "ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens");
  const reasoning = take(bag, "ai.usage.outputTokenDetails.reasoningTokens", "ai.usage.reasoningTokens");
  const cacheWrite = take(bag, "ai.usage.inputTokenDetails.cacheWriteTokens");
  const usage: RawUsage = {
    ...stated,
    input,
    output: take(bag, "ai.usage.outputTokens", "ai.usage.completionTokens"),
    total: take(bag, "ai.usage.totalTokens"),
    cacheRead: cacheRead ?? stated.cacheRead,
    cacheWrite: cacheWrite ?? stated.cacheWrite,
    reasoning: reasoning ?? stated.reasoning,
    convention: isSplit ? "inclusive" : conventionOf(input, stated, bag),
  };
  // These are differences of the other counts.
  take(bag, "ai.usage.inputTokenDetails.noCacheTokens", "ai.usage.outputTokenDetails.textTokens");
  return usage;
}

/** Takes the first key with a count; the others repeat it, or are older names of it in the SDK. */
function take(bag: AttributeBag, ...keys: string[]): number | undefined {
  const counts = keys.flatMap((key) => {
    const value = bag.has(key) ? read.count(bag.peek(key)) : undefined;
    if (typeof value !== "number") return [];
    bag.accept(key);
    return [value];
  });
  return counts[0];
}

function conventionOf(input: number | undefined, stated: RawUsage, bag: AttributeBag): RawUsage["convention"] {
  const cached = (stated.cacheRead ?? 0) + (cacheWritesOf(stated) ?? 0);
  if (cached === 0) return hasFreshInput(bag) ? "exclusive" : undefined;
  const isWhole = stated.input !== undefined && input === stated.input + cached;
  return isWhole ? "inclusive" : stated.convention;
}

/** Providers whose packages excluded cached tokens from the input, and the gateway that passes on their counts. */
function hasFreshInput(bag: AttributeBag): boolean {
  const provider = bag.peekText("ai.model.provider") ?? asText(bag.peek("gen_ai.system")) ?? "";
  if (provider === "gateway") return /^(?:anthropic|bedrock)\//.test(bag.peekText("ai.model.id") ?? "");
  return /(?:^|[.-])(?:anthropic|bedrock)(?:$|[.-])/.test(provider);
}

/**
 * The counts in `{anthropic: {usage: {…}}, google: {usageMetadata: {…}}, openai: {cachedPromptTokens}, …}`, which stays
 * metadata. For several steps it is that of the last one: its input is only used for comparison.
 */
function ofProvider(bag: AttributeBag): RawUsage {
  const metadata = bag.peekTree("ai.response.providerMetadata");
  if (!isObject(metadata)) return {};
  for (const own of Object.values(metadata).filter(isObject)) {
    const inner = [own["usage"], own["usageMetadata"]].find(isObject);
    const usage = readUsageMembers({ ...own, ...inner });
    const { convention: _convention, serviceTier: _tier, ...counts } = usage;
    if (Object.values(counts).some((count) => count !== undefined)) return usage;
  }
  return {};
}

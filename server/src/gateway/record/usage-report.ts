import type { Usage } from "../../domain/usage.ts";
import type { PriceBook } from "../../pricing/price-book.ts";
import { readUsageObject } from "../../pricing/usage-object.ts";

/** Approximate characters per token in the languages that models are mostly used in. */
export const charsPerToken = 4;

/** A known usage in OpenAI's form, completed with an estimate of what was not counted yet. */
export function completedUsage(
  known: Record<string, unknown> | undefined,
  estimate: EstimatedUsage,
): Record<string, unknown> {
  if (typeof known?.["prompt_tokens"] !== "number") return estimate;
  const counted = typeof known["completion_tokens"] === "number" ? known["completion_tokens"] : 0;
  const completion_tokens = Math.max(counted, estimate.completion_tokens);
  return { ...known, completion_tokens, total_tokens: known["prompt_tokens"] + completion_tokens };
}

type EstimatedUsage = { prompt_tokens: number; completion_tokens: number; total_tokens: number };

/** The estimated usage of a call whose upstream stated none, from the length of its texts. */
export function estimateUsage(promptChars: number, completionChars: number): EstimatedUsage {
  const prompt_tokens = Math.ceil(promptChars / charsPerToken);
  const completion_tokens = Math.ceil(completionChars / charsPerToken);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** The cost of a call in USD; null if model or usage is unknown. */
export function costOf(
  prices: PriceBook,
  call: {
    organizationId: string;
    model: string;
    provider: string;
    usage: Record<string, unknown> | undefined;
    atMs: number;
  },
): number | null {
  const usage = call.usage && readUsageObject(call.usage);
  if (usage === undefined) return null;
  const { organizationId, model, provider } = call;
  const timestampNs = BigInt(Math.round(call.atMs)) * 1_000_000n;
  return prices.price({ organizationId, model, provider, usage, timestampNs }).costUsd ?? null;
}

/**
 * The full detail of a usage, as in the beta `token-breakdown`: counts that the upstream omitted become 0, and the
 * cache counts have the names of every provider.
 */
export function detailedUsage(stated: Record<string, unknown>): Record<string, unknown> {
  const usage = readUsageObject(stated);
  if (usage === undefined) return stated;
  return {
    ...stated,
    prompt_tokens: usage.input ?? 0,
    completion_tokens: usage.output ?? 0,
    total_tokens: usage.total ?? 0,
    prompt_tokens_details: { ...detailsOf(stated, "prompt_tokens_details"), ...inputDetails(usage) },
    completion_tokens_details: { ...detailsOf(stated, "completion_tokens_details"), ...outputDetails(usage) },
    cache_read_input_tokens: usage.cacheRead ?? 0,
    cache_creation_input_tokens: usage.cacheWrite ?? 0,
  };
}

function inputDetails({ cacheRead, cacheWrite, audioInput }: Usage): Record<string, number> {
  return { cached_tokens: cacheRead ?? 0, cache_creation_tokens: cacheWrite ?? 0, audio_tokens: audioInput ?? 0 };
}

function outputDetails({ reasoning, audioOutput }: Usage): Record<string, number> {
  return { reasoning_tokens: reasoning ?? 0, audio_tokens: audioOutput ?? 0 };
}

function detailsOf(stated: Record<string, unknown>, member: string): object {
  const details = stated[member];
  return typeof details === "object" && details !== null ? details : {};
}

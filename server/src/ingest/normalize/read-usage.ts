import { normalizeUsage, type RawUsage, type Usage } from "../../domain/usage.ts";
import { readUsageDetails } from "../../pricing/usage-details.ts";
import { readUsageMembers } from "../../pricing/usage-object.ts";
import type { BodyValues } from "./read-body.ts";
import { usageOfBody } from "./response-items.ts";

/**
 * Reads the usage of a span body: its own fields first, then `usage_details`, then its `usage` object or that of its
 * `full_response`. The object itself is kept as sent.
 */
export function readUsage(values: BodyValues): Usage | undefined {
  const object = usageOfBody(values);
  const stated: RawUsage = object ? readUsageMembers(object) : {};
  const details = values.usage_details ? readUsageDetails(values.usage_details) : undefined;
  const raw: RawUsage = {
    ...stated,
    ...details,
    input: values.prompt_tokens ?? stated.input,
    output: values.completion_tokens ?? stated.output,
    total: values.total_tokens ?? stated.total,
    cacheRead: values.prompt_cache_hit_tokens ?? stated.cacheRead,
    cacheWrite: values.prompt_cache_creation_tokens ?? stated.cacheWrite,
    cacheWrite1h: values.cache_creation_1h_tokens ?? details?.cacheWrite1h ?? stated.cacheWrite1h,
    reasoning: values.reasoning_tokens ?? stated.reasoning,
    audioInput: values.audio_prompt_tokens ?? details?.audioInput ?? stated.audioInput,
    audioOutput: values.audio_completion_tokens ?? details?.audioOutput ?? stated.audioOutput,
    // The convention of the object applies only to the object's own count.
    convention:
      values.prompt_tokens === undefined || values.prompt_tokens === stated.input ? stated.convention : undefined,
  };
  return normalizeUsage(onlyTotal(raw, values.log_type));
}

/** Embeddings and rankings have no output tokens: some of their providers state only a total. */
function onlyTotal(raw: RawUsage, logType: string | undefined): RawUsage {
  if (raw.total === undefined || raw.input !== undefined || raw.output !== undefined) return raw;
  return logType === "embedding" || logType === "reranker" ? { ...raw, input: raw.total, output: 0 } : raw;
}

import type { CountOfUsage, RawUsage, Usage } from "../domain/usage.ts";
import { pricingLimits } from "./limits.ts";

/** Buckets that only pricing needs, by their names in a span's `usage_details`. */
const names = {
  cacheWrite5m: "cache_creation_5m_tokens",
  cacheWrite1h: "cache_creation_1h_tokens",
  audioInput: "audio_prompt_tokens",
  imageInput: "image_prompt_tokens",
  videoInput: "video_prompt_tokens",
  audioCacheRead: "audio_cache_hit_tokens",
  imageCacheRead: "image_cache_hit_tokens",
  videoCacheRead: "video_cache_hit_tokens",
  audioOutput: "audio_completion_tokens",
  imageOutput: "image_completion_tokens",
  videoOutput: "video_completion_tokens",
  webSearches: "web_searches",
  rerankSearches: "rerank_searches",
  audioSeconds: "audio_seconds",
  characters: "characters",
  images: "images",
  pages: "pages",
  unplaced: "unplaced_tokens",
} as const satisfies { [M in CountOfUsage]?: string };

const entries = Object.entries(names) as Array<[keyof typeof names, string]>;

/** Values that are not counts are ignored. */
export function readUsageDetails(details: Record<string, unknown>): RawUsage {
  const raw: RawUsage = {};
  for (const [member, name] of entries) {
    const value = details[name];
    if (typeof value === "number" && value >= 0 && value <= pricingLimits.countMax) raw[member] = value;
  }
  const { service_tier, region } = details;
  if (typeof service_tier === "string") raw.serviceTier = service_tier;
  if (typeof region === "string") raw.region = region;
  return raw;
}

/** Undefined if there are none. */
export function usageDetailsOf(usage: RawUsage | Usage): Record<string, number> | undefined {
  let details: Record<string, number> | undefined;
  for (const [member, name] of entries) {
    const value = (usage as RawUsage)[member];
    if (value !== undefined) (details ??= {})[name] = value;
  }
  return details;
}

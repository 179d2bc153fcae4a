import type { Usage, CountOfUsage, RawUsage } from "../domain/usage.ts";
import { pricingLimits } from "./limits.ts";

/**
 * The units of prices. A usage is split so that each token is in one bucket, and the buckets of input and output add up
 * to the usage's own counts. Rates are USD per million tokens, or per unit.
 */
export const tokenBuckets = [
  "input",
  "input_audio",
  "input_image",
  "input_video",
  "cache_read",
  "cache_read_audio",
  "cache_read_image",
  "cache_read_video",
  "cache_write_5m",
  "cache_write_1h",
  "output",
  "output_reasoning",
  "output_audio",
  "output_image",
  "output_video",
] as const;

export const unitBuckets = [
  "audio_second",
  "character",
  "image",
  "page",
  "request",
  "rerank_search",
  "web_search",
] as const;

export type TokenBucket = (typeof tokenBuckets)[number];
export type UnitBucket = (typeof unitBuckets)[number];
export type Bucket = TokenBucket | UnitBucket;

/** USD per million tokens, or per unit. Absent buckets have no price of their own. */
export type Rates = { readonly [B in Bucket]?: number };

const unitNames: ReadonlySet<string> = new Set(unitBuckets);

export function isUnit(bucket: Bucket): bucket is UnitBucket {
  return unitNames.has(bucket);
}

/** Calls `take` for each non-empty bucket of tokens. */
export function splitTokens(
  usage: Usage,
  pricesReasoning: boolean,
  take: (bucket: TokenBucket, tokens: number) => void,
): void {
  const { cacheRead = 0, cacheWrite = 0 } = usage;
  const fresh = usage.fresh ?? usage.input ?? 0;
  const written1h = Math.min(usage.cacheWrite1h ?? 0, cacheWrite);
  if ((usage.audioInput ?? usage.imageInput ?? usage.videoInput) === undefined) {
    if (fresh > 0) take("input", fresh);
    if (cacheRead > 0) take("cache_read", cacheRead);
  } else splitInput(usage, fresh, cacheRead, take);
  if (cacheWrite > written1h) take("cache_write_5m", cacheWrite - written1h);
  if (written1h > 0) take("cache_write_1h", written1h);
  splitOutput(usage, pricesReasoning, take);
}

const modalities = [
  ["audioInput", "audioCacheRead", "input_audio", "cache_read_audio"],
  ["imageInput", "imageCacheRead", "input_image", "cache_read_image"],
  ["videoInput", "videoCacheRead", "input_video", "cache_read_video"],
] as const;

/**
 * A modality without a stated cached part counts as fresh as far as the fresh tokens allow. No part is larger than its
 * whole.
 */
function splitInput(
  usage: Usage,
  fresh: number,
  cacheRead: number,
  take: (bucket: TokenBucket, tokens: number) => void,
): void {
  let freshLeft = fresh;
  let cachedLeft = cacheRead;
  for (const [all, cached, freshBucket, cachedBucket] of modalities) {
    const total = usage[all] ?? 0;
    const ofCache = Math.min(usage[cached] ?? Math.max(0, total - freshLeft), cachedLeft, total);
    const ofFresh = Math.min(total - ofCache, freshLeft);
    if (ofFresh > 0) take(freshBucket, ofFresh);
    if (ofCache > 0) take(cachedBucket, ofCache);
    freshLeft -= ofFresh;
    cachedLeft -= ofCache;
  }
  if (freshLeft > 0) take("input", freshLeft);
  if (cachedLeft > 0) take("cache_read", cachedLeft);
}

function splitOutput(
  usage: Usage,
  pricesReasoning: boolean,
  take: (bucket: TokenBucket, tokens: number) => void,
): void {
  let left = usage.output ?? 0;
  const part = (bucket: TokenBucket, tokens: number | undefined): void => {
    const within = Math.min(tokens ?? 0, left);
    if (within > 0) take(bucket, within);
    left -= within;
  };
  part("output_audio", usage.audioOutput);
  part("output_image", usage.imageOutput);
  part("output_video", usage.videoOutput);
  if (pricesReasoning) part("output_reasoning", usage.reasoning);
  if (left > 0) take("output", left);
}

/** Calls `take` for each kind of unit in a usage. */
export function unitsOf(usage: Usage, take: (bucket: UnitBucket, units: number) => void): void {
  const { audioSeconds = 0, characters = 0, images = 0, pages = 0, rerankSearches = 0, webSearches = 0 } = usage;
  if (audioSeconds > 0) take("audio_second", audioSeconds);
  if (characters > 0) take("character", characters);
  if (images > 0) take("image", images);
  if (pages > 0) take("page", pages);
  if (rerankSearches > 0) take("rerank_search", rerankSearches);
  if (webSearches > 0) take("web_search", webSearches);
}

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

/** Returns the counts by bucket, or undefined if the usage counts nothing. */
export function usageDetailsOf(usage: RawUsage | Usage): Record<string, number> | undefined {
  let details: Record<string, number> | undefined;
  for (const [member, name] of entries) {
    const value = (usage as RawUsage)[member];
    if (value !== undefined) (details ??= {})[name] = value;
  }
  return details;
}

/** The buckets of a price, by the server's names. Rates are US dollars per million tokens, or per unit. */

/** Buckets with their own column. */
export const mainBuckets = ["input", "cache_read", "cache_write_5m", "output"] as const;

const unitBuckets = ["audio_second", "character", "image", "page", "request", "rerank_search", "web_search"];

export const otherBuckets: readonly string[] = [
  "cache_write_1h",
  "output_reasoning",
  "input_audio",
  "output_audio",
  "cache_read_audio",
  "input_image",
  "output_image",
  "cache_read_image",
  "input_video",
  "output_video",
  "cache_read_video",
  ...unitBuckets,
];

const names: Readonly<Record<string, string>> = {
  cache_write_5m: "Cache write",
  cache_write_1h: "Cache write, 1 hour",
  output_reasoning: "Reasoning",
};

/** `Input audio` */
export function nameOf(bucket: string): string {
  const words = bucket.replaceAll("_", " ");
  return names[bucket] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** `per million tokens`, `for each page` */
export function unitOf(bucket: string): string {
  return unitBuckets.includes(bucket) ? `for each ${bucket.replaceAll("_", " ")}` : "per million tokens";
}

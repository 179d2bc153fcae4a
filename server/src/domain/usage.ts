/**
 * The usage of one call, in disjoint buckets.
 *
 * Providers and SDKs count cached input in two ways: inclusive (OpenAI, GenAI semantic conventions: `input` includes
 * the cached tokens) or exclusive (Anthropic, Bedrock natively: `input` is only the fresh part). With the wrong
 * convention a price doubles or vanishes, so it is decided once, here, from the numbers themselves if they show it.
 */
export type RawUsage = {
  input?: number | undefined;
  output?: number | undefined;
  total?: number | undefined;
  cacheRead?: number | undefined;
  /** All cache writes; the two below are parts of it if a provider distinguishes them. */
  cacheWrite?: number | undefined;
  cacheWrite5m?: number | undefined;
  cacheWrite1h?: number | undefined;
  reasoning?: number | undefined;
  /** Parts of the input by modality, cached or not. */
  audioInput?: number | undefined;
  imageInput?: number | undefined;
  videoInput?: number | undefined;
  /** Parts of `cacheRead` by modality. */
  audioCacheRead?: number | undefined;
  imageCacheRead?: number | undefined;
  videoCacheRead?: number | undefined;
  /** Parts of the output by modality. */
  audioOutput?: number | undefined;
  imageOutput?: number | undefined;
  videoOutput?: number | undefined;
  webSearches?: number | undefined;
  /** Billed searches of a reranker. */
  rerankSearches?: number | undefined;
  audioSeconds?: number | undefined;
  characters?: number | undefined;
  images?: number | undefined;
  pages?: number | undefined;
  /** The part of the stated total that is neither input nor output and is not explained. */
  unplaced?: number | undefined;
  /** The tier that served the call, as the provider names it: may differ from the requested one. */
  serviceTier?: string | undefined;
  /** Where the call was served, as the provider names it (Anthropic's `inference_geo`). */
  region?: string | undefined;
  /** The provider's charge for the whole call. */
  billedUsd?: number | undefined;
  /** Input or output was stated but is not a count: negative, fractional, or too large. */
  isUnread?: boolean | undefined;
  /** The convention of the attribute family, for numbers that do not show it. */
  convention?: CacheConvention | undefined;
};

export type CacheConvention = "inclusive" | "exclusive";

/** Members of a usage that are counts, as opposed to facts about the call. */
export type CountOfUsage = Exclude<keyof RawUsage, "convention" | "serviceTier" | "region" | "billedUsd" | "isUnread">;

/**
 * `input` includes cache reads and writes, `output` includes reasoning. The cache is no larger than the input;
 * `reasoning` and modalities are kept as stated.
 */
export type Usage = Omit<RawUsage, "convention" | "cacheWrite5m"> & {
  input: number | undefined;
  output: number | undefined;
  total: number | undefined;
  /** Input that was neither read from nor written to a cache: `input - cacheRead - cacheWrite`. */
  fresh: number | undefined;
  cacheRead: number | undefined;
  cacheWrite: number | undefined;
  cacheWrite1h: number | undefined;
  /** The cache lifetime of the writes is unknown: 5 minutes are assumed. */
  isLifetimeUnknown?: boolean;
  /** A detail is larger than its whole and no total shows where it was counted: outside the whole is assumed. */
  isPlaceAssumed?: boolean;
  reasoning: number | undefined;
  audioInput: number | undefined;
  audioOutput: number | undefined;
};

export function normalizeUsage(raw: RawUsage): Usage | undefined {
  const written = cacheWritesOf(raw);
  const { input, isBeside, output, isPlaceAssumed } = placesOf(
    raw,
    (raw.cacheRead ?? 0) + (written ?? 0),
    raw.cacheRead ?? 0,
  );
  const total = totalOf(raw, input, output);
  if (input === undefined && output === undefined && total === undefined && !hasUnits(raw)) return undefined;
  // A detail that is larger than its whole is cut: the whole is what is billed.
  const whole = input ?? 0;
  const cacheRead = isBeside ? raw.cacheRead : atMost(raw.cacheRead, whole);
  const cacheWrite = isBeside ? written : atMost(written, whole - (cacheRead ?? 0));
  return {
    input,
    output,
    total,
    fresh: input === undefined ? undefined : input - (cacheRead ?? 0) - (cacheWrite ?? 0),
    cacheRead,
    cacheWrite,
    cacheWrite1h: atMost(raw.cacheWrite1h, cacheWrite ?? 0),
    isLifetimeUnknown: (raw.cacheWrite5m ?? raw.cacheWrite1h) === undefined,
    isPlaceAssumed,
    isUnread: raw.isUnread === true && (input === undefined || output === undefined),
    reasoning: raw.reasoning,
    audioInput: raw.audioInput,
    imageInput: raw.imageInput,
    videoInput: raw.videoInput,
    audioCacheRead: raw.audioCacheRead,
    imageCacheRead: raw.imageCacheRead,
    videoCacheRead: raw.videoCacheRead,
    audioOutput: raw.audioOutput,
    imageOutput: raw.imageOutput,
    videoOutput: raw.videoOutput,
    webSearches: raw.webSearches,
    rerankSearches: raw.rerankSearches,
    audioSeconds: raw.audioSeconds,
    characters: raw.characters,
    images: raw.images,
    pages: raw.pages,
    unplaced: raw.unplaced ?? unplacedOf(raw, input, output),
    serviceTier: raw.serviceTier,
    region: raw.region,
    billedUsd: raw.billedUsd,
  };
}

/**
 * All cache writes: the stated total, otherwise the sum of the lifetimes. Lifetimes that add up to more than the total
 * are cut to it: the 1-hour part counts first, the 5-minute part gets the remainder.
 */
export function cacheWritesOf({
  cacheWrite,
  cacheWrite5m,
  cacheWrite1h,
}: Pick<RawUsage, "cacheWrite" | "cacheWrite5m" | "cacheWrite1h">): number | undefined {
  return cacheWrite ?? sumDefined(cacheWrite5m, cacheWrite1h);
}

/** A usage that only counts units such as seconds or pages has no tokens but is still a usage. */
function hasUnits({
  audioSeconds,
  characters,
  images,
  pages,
  webSearches,
  rerankSearches,
  billedUsd,
}: RawUsage): boolean {
  return (audioSeconds ?? characters ?? images ?? pages ?? webSearches ?? rerankSearches ?? billedUsd) !== undefined;
}

type Places = {
  input: number | undefined;
  output: number | undefined;
  isBeside: boolean;
  isPlaceAssumed: boolean;
};

/**
 * Whether cached tokens and reasoning are inside the counts of input and output, or outside. The stated total decides
 * first, then the known convention.
 */
function placesOf(raw: RawUsage, cached: number, read: number): Places {
  const { input, output, total } = raw;
  const reasoning = raw.reasoning ?? 0;
  // Only the cache is known: there was at least that much input.
  if (input === undefined) {
    const alone = outputAlone(raw);
    const isPlaceAssumed = alone !== output;
    return { input: cached > 0 ? cached : undefined, output: alone, isBeside: cached > 0, isPlaceAssumed };
  }
  const isBeside = isCacheBeside(raw, input, cached);
  const isAssumed = isBeside && raw.convention !== "exclusive";
  const assumed = (count: number | undefined, isMore = false): Places => ({
    ...withCache(input, count, isBeside, cached),
    isPlaceAssumed: isAssumed || isMore,
  });
  if (output === undefined) return assumed(undefined);
  const sum = input + output;
  if (total === sum) return assumed(output);
  if (reasoning > 0 && total === sum + reasoning) return assumed(output + reasoning);
  if (cached > 0 && total !== undefined) {
    if (total === sum + cached || total === sum + read) return withCache(input, output, true, cached);
    if (total === sum + cached + reasoning || total === sum + read + reasoning) {
      return withCache(input, output + reasoning, true, cached);
    }
  }
  return reasoning > output ? assumed(output + reasoning, true) : assumed(output);
}

function withCache(input: number, output: number | undefined, isBeside: boolean, cached: number): Places {
  return { input: isBeside ? input + cached : input, output, isBeside, isPlaceAssumed: false };
}

/**
 * Some count reasoning outside the output: if it is larger than the output and no total decides, it cannot be inside.
 */
function outputAlone({ output, reasoning = 0 }: RawUsage): number | undefined {
  return output !== undefined && reasoning > output ? output + reasoning : output;
}

/**
 * A total of input + output proves nothing about the cache, because SDKs add these two up themselves. With such a
 * total, a cache that slightly exceeds the input is a miscount inside it; a cache of more than twice the input was
 * counted outside.
 */
function isCacheBeside({ convention, total, output }: RawUsage, input: number, cached: number): boolean {
  if (cached === 0) return false;
  if (convention === "exclusive") return true;
  if (cached <= input) return false;
  return total === undefined || total !== input + (output ?? 0) || cached > 2 * input;
}

function totalOf(raw: RawUsage, input: number | undefined, output: number | undefined): number | undefined {
  // If one side is missing, a stated total is more complete than the other side.
  if (input === undefined || output === undefined) return raw.total ?? sumDefined(input, output);
  return input + output;
}

function unplacedOf({ total }: RawUsage, input: number | undefined, output: number | undefined): number | undefined {
  if (total === undefined || input === undefined || output === undefined) return undefined;
  return total > input + output ? total - input - output : undefined;
}

function atMost(count: number | undefined, most: number): number | undefined {
  return count === undefined ? undefined : Math.min(count, most);
}

function sumDefined(...values: Array<number | undefined>): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}

/**
 * What one call used, in disjoint buckets.
 *
 * Providers and SDKs count cached input in two ways: inclusive (OpenAI, GenAI semantic conventions: `input` already
 * holds the cached tokens) or exclusive (Anthropic, Bedrock natively: `input` is only the fresh part). Summed the wrong
 * way a price doubles or vanishes, so the convention is decided once, here, from the numbers themselves where they tell.
 */
export type RawUsage = {
  input?: number | undefined;
  output?: number | undefined;
  total?: number | undefined;
  cacheRead?: number | undefined;
  /** All cache writes; the two below are parts of it where a provider tells them apart. */
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
  /** What the stated total holds beside input and output, and nobody says what it was. */
  unplaced?: number | undefined;
  /** The tier that served the call, in the provider's word: it may be another than the one asked for. */
  serviceTier?: string | undefined;
  /** Where the call was served, in the provider's word (Anthropic's `inference_geo`). */
  region?: string | undefined;
  /** What the provider says that it charges for the call, all of it. */
  billedUsd?: number | undefined;
  /** Input or output was stated as something that is no count: a negative number, a fraction, more than there can be. */
  isUnread?: boolean | undefined;
  /** What the attribute family says where the numbers do not tell. */
  convention?: CacheConvention | undefined;
};

export type CacheConvention = "inclusive" | "exclusive";

/** Members of a usage that are counted, beside what is said of the call as a whole. */
export type CountOfUsage = Exclude<keyof RawUsage, "convention" | "serviceTier" | "region" | "billedUsd" | "isUnread">;

/**
 * `input` includes cache reads and writes, `output` includes reasoning. The cache is no larger than the input; `reasoning`
 * and modalities are kept as they were stated.
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
  /** Nobody said how long the cache keeps what was written: 5 minutes are assumed. */
  isLifetimeUnknown?: boolean;
  /** A detail is larger than its whole and no total tells where it was counted: beside it, as far as anybody can say. */
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
 * All that was written to a cache: the stated total, else the sum of the lifetimes. Lifetimes that add up to more than the
 * total are cut to it: what is kept for an hour counts first, the rest is kept for 5 minutes.
 */
export function cacheWritesOf({
  cacheWrite,
  cacheWrite5m,
  cacheWrite1h,
}: Pick<RawUsage, "cacheWrite" | "cacheWrite5m" | "cacheWrite1h">): number | undefined {
  return cacheWrite ?? sumDefined(cacheWrite5m, cacheWrite1h);
}

/** A usage that counts seconds or pages alone has no tokens, and is a usage all the same. */
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
 * Where cached tokens and reasoning stand: inside the counts of input and output, or beside them. The stated total decides
 * first, then what is known of the vocabulary.
 */
function placesOf(raw: RawUsage, cached: number, read: number): Places {
  const { input, output, total } = raw;
  const reasoning = raw.reasoning ?? 0;
  // Only the cache is known: that much input there was.
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

/** Some count thinking beside the output: where it is the larger of the two and nothing else tells, it cannot be inside. */
function outputAlone({ output, reasoning = 0 }: RawUsage): number | undefined {
  return output !== undefined && reasoning > output ? output + reasoning : output;
}

/**
 * A total of input and output alone proves nothing of the cache: SDKs add these two up themselves. It does say that a
 * cache that slightly exceeds its input is a miscount within it; one of many times the input was counted beside it.
 */
function isCacheBeside({ convention, total, output }: RawUsage, input: number, cached: number): boolean {
  if (cached === 0) return false;
  if (convention === "exclusive") return true;
  if (cached <= input) return false;
  return total === undefined || total !== input + (output ?? 0) || cached > 2 * input;
}

function totalOf(raw: RawUsage, input: number | undefined, output: number | undefined): number | undefined {
  // With one side missing, a stated total knows more than the other side alone.
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

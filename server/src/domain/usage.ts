/**
 * Token usage in disjoint buckets.
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
  audioInput?: number | undefined;
  audioOutput?: number | undefined;
  webSearches?: number | undefined;
  serviceTier?: string | undefined;
  billedUsd?: number | undefined;
  /** What the attribute family says where the numbers do not tell. */
  convention?: CacheConvention | undefined;
};

export type CacheConvention = "inclusive" | "exclusive";

/** All counts but `webSearches` are tokens. `input` includes cache reads and writes, `output` includes reasoning. */
export type Usage = {
  input: number | undefined;
  output: number | undefined;
  total: number | undefined;
  /** Input that was neither read from nor written to a cache: `input - cacheRead - cacheWrite`. */
  fresh: number | undefined;
  cacheRead: number | undefined;
  cacheWrite: number | undefined;
  cacheWrite1h: number | undefined;
  reasoning: number | undefined;
  audioInput: number | undefined;
  audioOutput: number | undefined;
  /** Searches that the provider made for the answer, which it charges for. */
  webSearches?: number | undefined;
  /** The tier that served the call, in the provider's word: it may be another than the one asked for. */
  serviceTier?: string | undefined;
  /** What the provider says that it charges for the call, all of it. */
  billedUsd?: number | undefined;
};

export function normalizeUsage(raw: RawUsage): Usage | undefined {
  const split = sumDefined(raw.cacheWrite5m, raw.cacheWrite1h);
  const cacheWrite = raw.cacheWrite ?? split;
  const cached = (raw.cacheRead ?? 0) + (cacheWrite ?? 0);
  const input = inputIncludingCache(raw, cached);
  const output = outputIncludingReasoning(raw, input);
  const total = sumDefined(input, output) === undefined ? raw.total : totalOf(raw, input, output);
  if (input === undefined && output === undefined && total === undefined) return undefined;
  return {
    input,
    output,
    total,
    fresh: input === undefined ? undefined : input - cached,
    cacheRead: raw.cacheRead,
    cacheWrite,
    cacheWrite1h: raw.cacheWrite1h,
    reasoning: raw.reasoning,
    audioInput: raw.audioInput,
    audioOutput: raw.audioOutput,
    webSearches: raw.webSearches,
    serviceTier: raw.serviceTier,
    billedUsd: raw.billedUsd,
  };
}

/** Whether the input count of `raw` already holds the cached tokens. */
function conventionOf(raw: RawUsage, input: number, cached: number): CacheConvention {
  // A part cannot be larger than its whole.
  if (cached > input) return "exclusive";
  if (raw.total !== undefined) {
    const output = raw.output ?? 0;
    const reasoning = raw.reasoning ?? 0;
    if (raw.total === input + output || raw.total === input + output + reasoning) return "inclusive";
    if (raw.total === input + cached + output || raw.total === input + (raw.cacheRead ?? 0) + output)
      return "exclusive";
  }
  return raw.convention ?? "inclusive";
}

function inputIncludingCache(raw: RawUsage, cached: number): number | undefined {
  if (raw.input === undefined) {
    // Only the cache is known: that much input there was.
    return cached > 0 ? cached : undefined;
  }
  if (cached === 0) return raw.input;
  return conventionOf(raw, raw.input, cached) === "inclusive" ? raw.input : raw.input + cached;
}

/** Gemini and some gateways count thinking beside the output: their total gives it away. */
function outputIncludingReasoning(raw: RawUsage, input: number | undefined): number | undefined {
  const { output, reasoning, total } = raw;
  if (output === undefined || reasoning === undefined || reasoning === 0) return output;
  if (reasoning > output) return output + reasoning;
  const withReasoning = (input ?? 0) + output + reasoning;
  return total === withReasoning || total === (raw.input ?? 0) + output + reasoning ? output + reasoning : output;
}

function totalOf(raw: RawUsage, input: number | undefined, output: number | undefined): number | undefined {
  // With one side missing, a stated total knows more than the other side alone.
  if (input === undefined || output === undefined) return raw.total ?? sumDefined(input, output);
  return input + output;
}

function sumDefined(...values: Array<number | undefined>): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}

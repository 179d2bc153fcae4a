import type { Bucket } from "../../server/src/pricing/buckets.ts";

/**
 * Differences in which our table agrees with the seller of the model and the second table does not. USD per million
 * tokens.
 */
export const knownDifferences: ReadonlyArray<{
  models: RegExp;
  rates: ReadonlyArray<readonly [Bucket, number]>;
  /** Applies only to a prompt above the tier threshold, or only to one below. */
  isLong?: boolean;
  source: string;
}> = [
  // A name without `global.` is served in one region, which costs 10 % more. The second table has the price of the
  // global endpoint.
  ...(
    [
      ["claude-haiku-4-5", 1, 0.1, 5],
      ["claude-opus-(4-[5-8]|5)(-\\d{8})?(-v1(:0)?)?$", 5, 0.5, 25],
      ["claude-opus-5-5", 4, 0.2, 20],
      ["claude-fable-5$", 10, 1, 50],
      ["claude-fable-5-1", 10, 0.25, 50],
      ["claude-sonnet-5$", 2, 0.2, 10],
      ["claude-sonnet-4-[56]", 3, 0.3, 15],
    ] as const
  ).map(([models, input, cacheRead, output]) => ({
    models: new RegExp(`^aws/anthropic\\.${models}`),
    rates: (
      [
        ["input", input],
        ["cache_read", cacheRead],
        ["cache_write_5m", 1.25 * input],
        ["cache_write_1h", 2 * input],
        ["output", output],
      ] as const
    ).map(([bucket, rate]) => [bucket, 1.1 * rate] as const),
    source: "https://platform.claude.com/docs/en/about-claude/pricing",
  })),
  // The second table has the price of text for audio input.
  {
    models: /^openai\/gpt-4o-transcribe/,
    rates: [["input_audio", 6]],
    source: "https://developers.openai.com/api/docs/pricing",
  },
  {
    models: /^openai\/gpt-4o-mini-transcribe/,
    rates: [["input_audio", 3]],
    source: "https://developers.openai.com/api/docs/pricing",
  },
  {
    models: /^google\/gemini-2\.5-flash$/,
    rates: [["input_audio", 1]],
    isLong: true,
    source: "https://ai.google.dev/gemini-api/docs/pricing",
  },
  // Half of the input; the second table has dropped a digit.
  {
    models: /^groq\/openai\/gpt-oss-safeguard-20b$/,
    rates: [["cache_read", 0.0375]],
    source: "https://console.groq.com/docs/prompt-caching",
  },
  // The second table has the price of peak hours only.
  {
    models: /^deepseek\/deepseek-(v4-)?flash$/,
    rates: [
      ["input", 0.15],
      ["cache_read", 0.003],
      ["output", 0.6],
    ],
    source: "https://api-docs.deepseek.com/quick_start/pricing",
  },
  // The second table has a rounded price.
  {
    models: /^deepseek\/deepseek-v3\.2$/,
    rates: [["output", 0.42]],
    source: "https://api-docs.deepseek.com/news/news250929",
  },
  // Prompts of more than 200,000 tokens were a beta and are no longer accepted: these are the prices of the calls made
  // then.
  {
    models: /^anthropic\/claude-sonnet-4-5/,
    rates: [
      ["input", 6],
      ["cache_read", 0.6],
      ["cache_write_5m", 7.5],
      ["cache_write_1h", 12],
    ],
    isLong: true,
    source: "https://platform.claude.com/docs/en/models/sonnet-4-5/overview",
  },
];

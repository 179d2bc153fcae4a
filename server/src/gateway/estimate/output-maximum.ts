import { describeClaude } from "../providers/anthropic/models.ts";

/** Tokens that a model writes at most, where nobody bounds them and it is in no row below. */
const usualMaximum = 16_384;

/**
 * The most that a model writes in one answer, reasoning included. The first that matches counts; Claudes are described with
 * their requests. Source: the model pages of the makers' documentation.
 */
const families: ReadonlyArray<readonly [RegExp, number]> = [
  [/embed/, 0],
  [/gpt-5|codex/, 128_000],
  [/gpt-oss/, 131_072],
  [/gpt-4\.1/, 32_768],
  [/gpt-4\.5|gpt-4o/, 16_384],
  [/gpt-4-(?:turbo|1106|0125|vision)|gpt-3\.5/, 4_096],
  [/gpt-4/, 8_192],
  [/(?:^|\/)o\d/, 100_000],
  [/gemini-(?:1|2\.0|pro)|gemma|learnlm/, 8_192],
  [/gemini/, 65_536],
  [/deepseek.*(?:reasoner|r1)/, 65_536],
];

/** In tokens, of one choice. */
export function outputMaximum(model: string): number {
  const name = model.toLowerCase();
  if (name.includes("claude")) return describeClaude(name).maxTokens;
  return families.find(([pattern]) => pattern.test(name))?.[1] ?? usualMaximum;
}

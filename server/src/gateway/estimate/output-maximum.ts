import { describeClaude } from "../providers/anthropic/models.ts";

/** The most tokens that a model generates if no limit is set and no row below matches. */
const usualMaximum = 16_384;

/**
 * The most tokens of one response, including reasoning. The first match counts; Claude models are described with their
 * requests. Source: the model pages in the vendors' documentation.
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

/** In tokens, for one choice. */
export function outputMaximum(model: string): number {
  const name = model.toLowerCase();
  if (name.includes("claude")) return describeClaude(name).maxTokens;
  return families.find(([pattern]) => pattern.test(name))?.[1] ?? usualMaximum;
}

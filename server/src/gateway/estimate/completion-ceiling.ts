import { isObject, isRawNumber } from "../../lib/json.ts";
import { lookUp } from "../../lib/look-up.ts";
import { describeClaude } from "../providers/anthropic/models.ts";

/**
 * The meaning of token limits, by their names without underscores and capitals: providers spell them both ways and nest
 * them.
 */
const kinds: Readonly<Record<string, "answer" | "thinking" | "choices">> = {
  maxtokens: "answer",
  maxcompletiontokens: "answer",
  maxoutputtokens: "answer",
  maxnewtokens: "answer",
  maxtokenstosample: "answer",
  maxgenlen: "answer",
  numpredict: "answer",
  budgettokens: "thinking",
  thinkingbudget: "thinking",
  n: "choices",
  bestof: "choices",
  candidatecount: "choices",
};

/** Members with content, whose keys the caller chooses. */
const content = new Set([
  "messages",
  "input",
  "instructions",
  "tools",
  "functions",
  "response_format",
  "text",
  "metadata",
]);

/** How deep settings nest: `extra_body.google.thinking_config.thinking_budget`. */
const maxDepth = 5;

type Bounds = Record<"answer" | "thinking" | "choices", number>;

/**
 * The most tokens that a request lets a model generate: the largest of several limits, as the provider chooses among
 * them, plus thinking, as some count it separately. Without a limit, the model's own maximum.
 */
export function completionCeiling(request: Record<string, unknown>, model: string): number {
  const bounds: Bounds = { answer: 0, thinking: 0, choices: 1 };
  for (const [name, value] of Object.entries(request)) if (!content.has(name)) collect(name, value, bounds, maxDepth);
  const { answer, thinking, choices } = bounds;
  return ((answer === 0 ? outputMaximum(model) : answer) + thinking) * choices;
}

function collect(name: string, value: unknown, bounds: Bounds, depth: number): void {
  if (isObject(value)) {
    if (depth > 0) for (const [key, member] of Object.entries(value)) collect(key, member, bounds, depth - 1);
    return;
  }
  const key = name.toLowerCase().replaceAll("_", "");
  const kind = lookUp(kinds, key);
  const bound = kind && numberOf(value);
  if (kind && bound !== undefined && bound > bounds[kind]) bounds[kind] = bound;
}

/** Some providers also accept numbers as text. */
function numberOf(value: unknown): number | undefined {
  const number = isRawNumber(value) ? Number(value.rawJSON) : typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

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
function outputMaximum(model: string): number {
  const name = model.toLowerCase();
  if (name.includes("claude")) return describeClaude(name).maxTokens;
  return families.find(([pattern]) => pattern.test(name))?.[1] ?? usualMaximum;
}

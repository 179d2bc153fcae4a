/** The differences between Gemini models that matter to requests. */
export type GeminiModel = {
  /** `budget`: thinking gets a number of tokens. `level`: it gets one of `levels`. */
  thinking: "none" | "budget" | "level";
  /** Values of `thinkingLevel`, weakest first. */
  levels: readonly ThinkingLevel[];
  /** The smallest budget; 0 if thinking can be turned off. */
  minBudget: number;
  /**
   * The third generation's rules: calls have ids and signatures that must be sent back, results may contain images, and
   * a response may be constrained to a schema while tools are offered.
   */
  isThirdGeneration: boolean;
};

export type ThinkingLevel = "minimal" | "low" | "medium" | "high";

const third: GeminiModel = {
  thinking: "level",
  levels: ["low", "medium", "high"],
  minBudget: 0,
  isThirdGeneration: true,
};
const second: GeminiModel = { thinking: "budget", levels: [], minBudget: 0, isThirdGeneration: false };
const plain: GeminiModel = { ...second, thinking: "none" };

/** The first match is used. Source: the pages on thinking and thought signatures of the API's documentation. */
const models: ReadonlyArray<readonly [RegExp, GeminiModel]> = [
  [/gemini-(?:3[\w.-]*|2\.5[\w.-]*)-image/, { ...plain, isThirdGeneration: false }],
  [/gemini-3-pro/, { ...third, levels: ["low", "high"] }],
  [/gemini-3(?:\.[0-5])?-flash/, { ...third, levels: ["minimal", "low", "medium", "high"] }],
  [/gemini-2\.5-pro/, { ...second, minBudget: 128 }],
  [/gemini-2\.5/, second],
  [/gemini-(?:1|2\.0|pro$|pro-vision)|gemma|learnlm/, plain],
  [/gemini/, third],
];

/** For a model other than Gemini behind the same API, the least capable description is used. */
export function describeGemini(model: string): GeminiModel {
  return models.find(([pattern]) => pattern.test(model))?.[1] ?? plain;
}

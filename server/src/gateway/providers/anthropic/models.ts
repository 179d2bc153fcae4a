/** The differences between Claude models that matter to requests. Names of Bedrock and Vertex are recognized too. */
export type ClaudeModel = {
  /** The maximum of generated tokens. Also sent if the caller states no bound, as the API requires one. */
  maxTokens: number;
  /** `budget`: thinking gets a number of tokens. `adaptive`: the model decides, guided by an effort. */
  thinking: "none" | "budget" | "adaptive";
  /** Whether it thinks by default. */
  thinksByDefault: boolean;
  /** False if thinking cannot be turned off. */
  canStopThinking: boolean;
  /** Values of `output_config.effort`, weakest first. */
  efforts: readonly Effort[];
  /** Whether temperature, top_p and top_k may be set. */
  takesSampling: boolean;
  /** Whether responses and tool calls can be constrained to a JSON schema. */
  takesSchemas: boolean;
};

export type Effort = "low" | "medium" | "high" | "xhigh" | "max";

const upToHigh = ["low", "medium", "high"] as const;
const upToMax = ["low", "medium", "high", "xhigh", "max"] as const;

const newest: ClaudeModel = {
  maxTokens: 128_000,
  thinking: "adaptive",
  thinksByDefault: true,
  canStopThinking: true,
  efforts: upToMax,
  takesSampling: false,
  takesSchemas: true,
};

const oldest: ClaudeModel = {
  maxTokens: 4_096,
  thinking: "none",
  thinksByDefault: false,
  canStopThinking: true,
  efforts: [],
  takesSampling: true,
  takesSchemas: false,
};

const withBudget: ClaudeModel = { ...oldest, maxTokens: 64_000, thinking: "budget" };
const fourFive: ClaudeModel = { ...withBudget, takesSchemas: true };
const fourSix: ClaudeModel = { ...fourFive, maxTokens: 128_000, thinking: "adaptive", efforts: upToHigh };

/**
 * The first match is used. Source: the model overview, effort, thinking and structured-outputs pages of the API's
 * documentation.
 */
const models: ReadonlyArray<readonly [RegExp, ClaudeModel]> = [
  [/claude-(?:fable|mythos)/, { ...newest, canStopThinking: false }],
  [/claude-opus-4[-.][7-9]/, { ...newest, thinksByDefault: false }],
  [/claude-opus-4[-.]6/, { ...fourSix, efforts: ["low", "medium", "high", "max"] }],
  [/claude-sonnet-4[-.]6/, fourSix],
  [/claude-opus-4[-.]5/, { ...fourFive, efforts: upToHigh }],
  [/claude-(?:sonnet|haiku)-4[-.]5/, fourFive],
  [/claude-opus-4/, { ...withBudget, maxTokens: 32_000 }],
  [/claude-(?:sonnet|haiku)-4/, withBudget],
  [/claude-3[-.]7/, withBudget],
  [/claude-3[-.]5/, { ...oldest, maxTokens: 8_192 }],
  [/claude-(?:3|v?2|instant)/, oldest],
  [/claude/, newest],
];

/** For a model other than Claude behind an Anthropic-like API, the least capable description is used. */
export function describeClaude(model: string): ClaudeModel {
  return models.find(([pattern]) => pattern.test(model))?.[1] ?? oldest;
}

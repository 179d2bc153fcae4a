import { type ClaudeModel, describeClaude } from "../anthropic/models.ts";

/** The differences between models behind Bedrock that matter to requests. */
export type BedrockModel = {
  /** Determines how reasoning is requested, and whether Claude's rules apply. */
  family: "claude" | "nova" | "gpt-oss" | "other";
  claude: ClaudeModel;
  /** Whether `outputConfig` can constrain a response to a JSON schema, and `strict` tool calls to theirs. */
  takesSchemas: boolean;
};

/** @param model a model id, or the ARN or id of an inference profile */
export function describeBedrockModel(model: string): BedrockModel {
  const claude = describeClaude(model);
  if (/claude/.test(model)) {
    // Bedrock's documentation lists fewer models than Anthropic's.
    const takesSchemas = /claude-(?:(?:opus|sonnet|haiku)-4-5|opus-4-6)/.test(model);
    return { family: "claude", claude: { ...claude, takesSchemas }, takesSchemas };
  }
  const family = /amazon\.nova/.test(model) ? "nova" : /openai\.gpt-oss/.test(model) ? "gpt-oss" : "other";
  return { family, claude, takesSchemas: family !== "nova" };
}

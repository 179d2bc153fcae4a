import { type ClaudeModel, describeClaude } from "../anthropic/models.ts";

/** What differs between the models behind Bedrock as far as requests are concerned. */
export type BedrockModel = {
  /** How it is asked to think, and whether that is for a Claude's rules. */
  family: "claude" | "nova" | "gpt-oss" | "other";
  claude: ClaudeModel;
  /** Whether an answer can be held to a JSON schema by `outputConfig`, and calls of tools to theirs by `strict`. */
  takesSchemas: boolean;
};

/** @param model a model id, or the ARN or id of an inference profile */
export function describeBedrockModel(model: string): BedrockModel {
  const claude = describeClaude(model);
  if (/claude/.test(model)) {
    // The list of Bedrock's documentation is shorter than Anthropic's own.
    const takesSchemas = /claude-(?:(?:opus|sonnet|haiku)-4-5|opus-4-6)/.test(model);
    return { family: "claude", claude: { ...claude, takesSchemas }, takesSchemas };
  }
  const family = /amazon\.nova/.test(model) ? "nova" : /openai\.gpt-oss/.test(model) ? "gpt-oss" : "other";
  return { family, claude, takesSchemas: family !== "nova" };
}

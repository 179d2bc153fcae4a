import type { Convention } from "../convention.ts";
import { toMessages } from "../../../messages/message.ts";

/** Claude Code's traces: bare keys, in its own scope. Its input counts exclude cached tokens. */
export const claudeCode: Convention = {
  name: "claude-code",
  applies: ({ scopeName }) => scopeName.startsWith("com.anthropic.claude_code"),
  fields: {
    model: ["model"],
    customer_email: ["user.email"],
    max_tokens: ["max_tokens"],
    span_name: ["tool_name"],
  },
  usage: {
    input: ["input_tokens"],
    output: ["output_tokens"],
    cacheRead: ["cache_read_tokens"],
    cacheWrite: ["cache_creation_tokens"],
  },
  cache: () => "exclusive",
  cost: ["cost_usd"],
  derive: ({ span }) => ({ provider_id: span.attributes.has("model") ? "anthropic" : undefined }),
  content(view) {
    const { bag, span } = view;
    const isModelCall = span.name === "claude_code.llm_request";
    const prompt = bag.takeAny("user_prompt", "new_context");
    const answer = bag.takeAny("response.model_output");
    const result = view.events.find(({ name }) => name === "tool.output");
    if (result) view.events = view.events.filter((event) => event !== result);
    return {
      prompt: isModelCall ? toMessages(bag.parsed(prompt), "user") : undefined,
      completions: isModelCall ? toMessages(bag.parsed(answer), "assistant") : undefined,
      tools: undefined,
      input: bag.takeAny("tool_input") ?? (isModelCall ? undefined : prompt),
      output: result === undefined ? (isModelCall ? undefined : answer) : Object.fromEntries(result.attributes),
    };
  },
};

import type { AgentLogs } from "./agent-log.ts";

/** The Codex command line. The last event of a stream has the counts, or the reason of its failure. */
export const codexLogs: AgentLogs = {
  prefix: "codex.",
  scope: /^codex/,
  spanScope: "codex",
  promptKeys: [],
  sessionKeys: ["conversation.id", "thread.id"],
  events: {
    user_prompt: { operation: "invoke_agent", attributes: { "gen_ai.input.messages": ["prompt"] } },
    api_request: {
      operation: "chat",
      only: (attributes) => attributes.has("error.message"),
      failed: true,
    },
    sse_event: {
      operation: "chat",
      only: (attributes) => attributes.get("event.kind") === "response.completed" || attributes.has("error.message"),
      attributes: {
        "gen_ai.usage.input_tokens": ["input_token_count"],
        "gen_ai.usage.output_tokens": ["output_token_count"],
        "gen_ai.usage.cache_read.input_tokens": ["cached_token_count"],
        "gen_ai.usage.reasoning.output_tokens": ["reasoning_token_count"],
      },
    },
    tool_result: {
      operation: "execute_tool",
      attributes: {
        "gen_ai.tool.name": ["tool_name"],
        "gen_ai.tool.call.id": ["call_id"],
        "gen_ai.tool.call.arguments": ["arguments"],
        "gen_ai.tool.call.result": ["output"],
      },
    },
  },
};

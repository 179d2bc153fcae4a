import type { AgentEvent, AgentLogs } from "./agent-log.ts";

const model: AgentEvent = {
  operation: "chat",
  constants: { "gen_ai.provider.name": "gcp.gemini" },
  attributes: { "gen_ai.request.model": ["model", "model_name"], "http.response.status_code": ["status_code"] },
};

/** The Gemini command line. It counts reasoning outside the output, as the total shows. */
export const geminiCliLogs: AgentLogs = {
  prefix: "gemini_cli.",
  scope: /^gemini[-_]cli/,
  spanScope: "gemini-cli",
  promptKeys: ["prompt_id"],
  sessionKeys: ["session.id"],
  events: {
    user_prompt: { operation: "invoke_agent", attributes: { "gen_ai.input.messages": ["prompt"] } },
    api_request: { attributes: { "gen_ai.input.messages": ["request_text"] } },
    api_response: {
      ...model,
      attributes: {
        ...model.attributes,
        "gen_ai.output.messages": ["response_text"],
        "gen_ai.usage.input_tokens": ["input_token_count"],
        "gen_ai.usage.output_tokens": ["output_token_count"],
        "gen_ai.usage.cache_read.input_tokens": ["cached_content_token_count"],
        "gen_ai.usage.reasoning.output_tokens": ["thoughts_token_count"],
        "gen_ai.usage.total_tokens": ["total_token_count"],
      },
    },
    api_error: { ...model, failed: true },
    tool_call: {
      operation: "execute_tool",
      attributes: { "gen_ai.tool.name": ["function_name"], "gen_ai.tool.call.arguments": ["function_args"] },
    },
  },
};

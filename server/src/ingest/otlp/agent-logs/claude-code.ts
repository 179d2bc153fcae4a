import { isObject, parseJsonText } from "../../../lib/json.ts";
import type { AttributeValue, Attributes } from "../export-request.ts";
import type { AgentLogs } from "./agent-log.ts";

/**
 * https://docs.anthropic.com/en/docs/claude-code/monitoring-usage. Prompts are included if the user allows logging
 * them. Tokens and cost are in bare keys, which the convention of the same name reads.
 */
export const claudeCodeLogs: AgentLogs = {
  prefix: "claude_code.",
  scope: /^com\.anthropic\.claude_code/,
  spanScope: "com.anthropic.claude_code.events",
  promptKeys: ["prompt.id"],
  sessionKeys: ["session.id"],
  events: {
    user_prompt: { operation: "invoke_agent", attributes: { "gen_ai.input.messages": ["prompt"] } },
    api_request: { operation: "chat", callKey: "request_id" },
    assistant_response: {
      callKey: "request_id",
      attributes: { "gen_ai.output.messages": ["response"] },
      only: (attributes) => attributes.get("response") !== "<REDACTED>",
    },
    api_error: { operation: "chat", attributes: { "http.response.status_code": ["status_code"] }, failed: true },
    tool_result: {
      operation: "execute_tool",
      attributes: {
        "gen_ai.tool.name": ["tool_name"],
        "gen_ai.tool.call.arguments": ["tool_input", "tool_parameters"],
      },
    },
    api_request_body: {
      expand: (attributes) =>
        membersOf(attributes, {
          messages: "gen_ai.input.messages",
          system: "gen_ai.system_instructions",
          tools: "gen_ai.tool.definitions",
        }),
    },
    api_response_body: { expand: (attributes) => membersOf(attributes, { content: "gen_ai.output.messages" }) },
  },
};

/** Members of the JSON in `body`. A truncated body is ignored. */
function membersOf(attributes: Attributes, keys: Readonly<Record<string, string>>): Record<string, AttributeValue> {
  const text = attributes.get("body");
  const parsed = typeof text === "string" ? parseJsonText(text) : undefined;
  if (parsed?.ok !== true || !isObject(parsed.value)) return {};
  const body = parsed.value as Record<string, AttributeValue>;
  const entries = Object.entries(keys).flatMap(([member, key]): Array<[string, AttributeValue]> => {
    const value = body[member];
    if (value === undefined || value === null) return [];
    return [[key, member === "content" ? [{ role: "assistant", content: value }] : value]];
  });
  return Object.fromEntries(entries);
}

import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanView } from "../convention.ts";
import { toMessages, withSystem } from "../messages/message.ts";
import { systemText } from "../messages/request.ts";
import { toolsOf } from "../messages/tool-calls.ts";

/** Google's Agent Development Kit: requests and answers of Gemini as JSON. */
export const adk: Convention = {
  name: "adk",
  applies: ({ bag }) => bag.hasFamily("gcp"),
  fields: { thread_identifier: ["gcp.vertex.agent.session_id"] },
  derive: ({ bag }) => {
    const { model, config } = requestOf(bag);
    const settings = isObject(config) ? config : {};
    return {
      model,
      temperature: settings["temperature"],
      top_p: settings["top_p"],
      max_tokens: settings["max_output_tokens"],
    };
  },
  usage: ({ bag }) => {
    const response = bag.peekTree("gcp.vertex.agent.llm_response");
    const usage = isObject(response) && isObject(response["usage_metadata"]) ? response["usage_metadata"] : {};
    const count = (name: string): number | undefined => (typeof usage[name] === "number" ? usage[name] : undefined);
    return {
      input: count("prompt_token_count"),
      output: count("candidates_token_count"),
      total: count("total_token_count"),
      cacheRead: count("cached_content_token_count"),
      reasoning: count("thoughts_token_count"),
    };
  },
  content: (view) => contentOf(view),
};

function contentOf({ bag }: SpanView): ReturnType<NonNullable<Convention["content"]>> {
  const { contents, config } = requestOf(bag);
  const settings = isObject(config) ? config : {};
  const response = bag.takeTree("gcp.vertex.agent.llm_response");
  bag.drop("gcp.vertex.agent.llm_request");
  const system = systemText(settings["system_instruction"]);
  const declared = Array.isArray(settings["tools"]) ? (settings["tools"] as unknown[]) : [];
  return {
    prompt: withSystem(toMessages(contents, "user"), Array.isArray(contents) ? system : undefined),
    completions: isObject(response) ? toMessages(response["content"], "assistant") : undefined,
    tools: toolsOf(declared.flatMap((tool) => (isObject(tool) ? (tool["function_declarations"] ?? []) : []))),
    input: nonEmpty(bag.take("gcp.vertex.agent.tool_call_args")) ?? bag.take("gcp.vertex.agent.data"),
    output: nonEmpty(bag.take("gcp.vertex.agent.tool_response")),
  };
}

function requestOf(bag: AttributeBag): Record<string, unknown> {
  const request = bag.peekTree("gcp.vertex.agent.llm_request");
  return isObject(request) ? request : {};
}

/** Spans of the other kind say `{}`. */
function nonEmpty(value: unknown): unknown {
  return value === "{}" ? undefined : value;
}

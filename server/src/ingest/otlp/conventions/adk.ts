import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent } from "../convention.ts";
import { toMessages, withSystem } from "../../../messages/message.ts";
import { readRequest, systemText } from "../../../messages/request.ts";
import { toolsOf } from "../../../messages/tool-calls.ts";
import { readParameters } from "../read-parameters.ts";

/**
 * Google's Agent Development Kit: requests and responses of Gemini as JSON, with names in the style of the language.
 */
export const adk: Convention = {
  name: "adk",
  applies: ({ bag }) => bag.hasFamily("gcp"),
  fields: { thread_identifier: ["gcp.vertex.agent.session_id"] },
  derive: ({ bag }) => {
    const { model, config } = requestOf(bag);
    return { model, ...readParameters(config) };
  },
  usage: ({ bag }) => {
    const usage = member(bag.peekTree("gcp.vertex.agent.llm_response"), "usage_metadata", "usageMetadata");
    const count = (...names: string[]): number | undefined => {
      const value = member(usage, ...names);
      return typeof value === "number" ? value : undefined;
    };
    return {
      input: count("prompt_token_count", "promptTokenCount"),
      output: count("candidates_token_count", "candidatesTokenCount"),
      total: count("total_token_count", "totalTokenCount"),
      cacheRead: count("cached_content_token_count", "cachedContentTokenCount"),
      reasoning: count("thoughts_token_count", "thoughtsTokenCount"),
    };
  },
  content({ bag }): SpanContent {
    const { contents, config } = requestOf(bag);
    const response = bag.takeTree("gcp.vertex.agent.llm_response");
    bag.drop("gcp.vertex.agent.llm_request");
    const prompt = toMessages(contents, "user");
    const sent = readRequest(bag.peekTree("gcp.vertex.agent.data"));
    if (sent) bag.drop("gcp.vertex.agent.data");
    return {
      prompt: Array.isArray(contents)
        ? withSystem(prompt, systemText(member(config, "system_instruction", "systemInstruction")))
        : sent?.prompt,
      completions: toMessages(member(response, "content"), "assistant"),
      tools: toolsOf(member(config, "tools")),
      input: nonEmpty(bag.take("gcp.vertex.agent.tool_call_args")) ?? nonEmpty(bag.take("gcp.vertex.agent.data")),
      output: nonEmpty(bag.take("gcp.vertex.agent.tool_response")),
    };
  },
};

function requestOf(bag: AttributeBag): Record<string, unknown> {
  const request = bag.peekTree("gcp.vertex.agent.llm_request");
  return isObject(request) ? request : {};
}

/** The first of these members that is present. */
function member(value: unknown, ...names: readonly string[]): unknown {
  return isObject(value) ? names.map((name) => value[name]).find((found) => found !== undefined) : undefined;
}

/** Spans of the other kind send `{}`, merged tool calls `N/A`. */
function nonEmpty(value: unknown): unknown {
  return value === "{}" || value === "N/A" || (isObject(value) && Object.keys(value).length === 0) ? undefined : value;
}

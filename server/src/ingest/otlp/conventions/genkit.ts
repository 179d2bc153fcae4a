import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent } from "../convention.ts";
import { toMessages } from "../../../messages/message.ts";
import { toolsOf } from "../../../messages/tool-calls.ts";
import { readParameters } from "../read-parameters.ts";

/** Genkit. */
export const genkit: Convention = {
  name: "genkit",
  applies: ({ bag }) => bag.hasFamily("genkit"),
  fields: { span_path: ["genkit:path"], thread_identifier: ["genkit:sessionId"] },
  derive: ({ bag }) => {
    const name = bag.takeText("genkit:name") ?? "";
    if (!isModel(bag)) return { span_name: name };
    return {
      span_name: name,
      model: name.slice(name.indexOf("/") + 1),
      provider_id: name.includes("/") ? name.slice(0, name.indexOf("/")) : undefined,
      ...readParameters(memberOf(bag.peekTree("genkit:input"), "config")),
    };
  },
  usage: ({ bag }) => {
    if (!isModel(bag)) return undefined;
    const usage = memberOf(bag.peekTree("genkit:output"), "usage");
    const count = (name: string): number | undefined => {
      const value = memberOf(usage, name);
      return typeof value === "number" ? value : undefined;
    };
    return {
      input: count("inputTokens"),
      output: count("outputTokens"),
      total: count("totalTokens"),
      cacheRead: count("cachedContentTokens"),
      reasoning: count("thoughtsTokens"),
    };
  },
  content({ bag }): SpanContent {
    const model = isModel(bag);
    const input = bag.takeTree("genkit:input");
    const output = bag.takeTree("genkit:output");
    if (!model) return { input, output };
    return {
      prompt: toMessages(memberOf(input, "messages"), "user"),
      completions: toMessages(memberOf(output, "message"), "assistant"),
      tools: toolsOf(memberOf(input, "tools")),
    };
  },
};

function isModel(bag: AttributeBag): boolean {
  return bag.peek("genkit:metadata:subtype") === "model";
}

function memberOf(object: unknown, name: string): unknown {
  return isObject(object) ? object[name] : undefined;
}

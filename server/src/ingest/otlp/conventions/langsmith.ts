import { isObject } from "../../../lib/json.ts";
import type { Convention, SpanContent } from "../convention.ts";
import { toMessages, type Message } from "../messages/message.ts";

/** LangSmith. `langsmith.trace.session_id` is a project there, no conversation. */
export const langsmith: Convention = {
  name: "langsmith",
  applies: ({ bag }) => bag.hasFamily("langsmith"),
  fields: {
    customer_identifier: ["langsmith.metadata.user_id", "langsmith.metadata.userId"],
    thread_identifier: [
      "langsmith.metadata.thread_id",
      "langsmith.metadata.session_id",
      "langsmith.metadata.conversation_id",
    ],
    model: ["langsmith.metadata.ls_model_name"],
    provider_id: ["langsmith.metadata.ls_provider"],
    temperature: ["langsmith.metadata.ls_temperature"],
  },
  usage({ bag }) {
    const usage = bag.takeTree("langsmith.usage_metadata");
    const inputDetails = bag.takeTree("gen_ai.usage.input_token_details");
    const outputDetails = bag.takeTree("gen_ai.usage.output_token_details");
    const whole = isObject(usage) ? usage : {};
    const input = detailsOf(inputDetails, whole["input_token_details"]);
    const output = detailsOf(outputDetails, whole["output_token_details"]);
    return {
      input: count(whole["input_tokens"]),
      output: count(whole["output_tokens"]),
      total: count(whole["total_tokens"]),
      cacheRead: count(input["cache_read"]),
      cacheWrite: count(input["cache_creation"]),
      reasoning: count(output["reasoning"]),
    };
  },
  metadataPrefixes: ["langsmith.metadata."],
  content({ bag }): SpanContent {
    const input = bag.takeTree("gen_ai.prompt");
    const output = bag.takeTree("gen_ai.completion");
    const prompt = messagesIn(input, "user");
    const completions = messagesIn(output, "assistant");
    return {
      prompt,
      completions,
      input: prompt.length > 0 ? undefined : input,
      output: completions.length > 0 ? undefined : output,
    };
  },
};

/** LangChain's runs: `{"messages": [[…]]}` go in, `{"generations": [[{"message": …}]]}` come out. */
function messagesIn(run: unknown, role: string): Message[] {
  if (!isObject(run)) return toMessages(Array.isArray(run) ? run : undefined, role);
  const generations = Array.isArray(run["generations"]) ? (run["generations"] as unknown[]).flat() : [];
  const said = generations.filter(isObject).map((generation) => generation["message"] ?? generation["text"]);
  return toMessages(run["messages"] ?? (said.length > 0 ? said : undefined), role);
}

function detailsOf(...given: unknown[]): Record<string, unknown> {
  return given.find(isObject) ?? {};
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

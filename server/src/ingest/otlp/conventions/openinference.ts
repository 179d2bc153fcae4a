import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanView } from "../convention.ts";
import { indexedIn, takeIndexed, type IndexedItem } from "../indexed-keys.ts";
import { holdsMessages, toMessages, type Message } from "../messages/message.ts";
import { toolOf } from "../messages/tool-calls.ts";

/** Parameters that are taken from `llm.invocation_parameters`; some instrumentations put whole responses there. */
const parameterFields: Readonly<Record<string, readonly string[]>> = {
  temperature: ["temperature"],
  top_p: ["top_p"],
  max_tokens: ["max_tokens", "max_completion_tokens", "max_output_tokens"],
  frequency_penalty: ["frequency_penalty"],
  presence_penalty: ["presence_penalty"],
  n: ["n"],
  stop: ["stop", "stop_sequences"],
  stream: ["stream"],
  tool_choice: ["tool_choice"],
  response_format: ["response_format"],
  encoding_format: ["encoding_format"],
  dimensions: ["dimensions"],
  customer_identifier: ["user"],
};

/** https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md */
export const openinference: Convention = {
  name: "openinference",
  applies: ({ bag }) =>
    bag.hasFamily("openinference", "llm", "input", "output", "embedding", "session", "user", "tag", "metadata", "tool"),
  fields: {
    model: [
      "llm.response.model_name",
      "llm.model_name",
      "llm.request.model_name",
      "embedding.model_name",
      "reranker.model_name",
    ],
    provider_id: ["llm.provider", "llm.system"],
    customer_identifier: ["user.id"],
    customer_email: ["user.email"],
    customer_name: ["user.name"],
    thread_identifier: ["session.id"],
    prompt_name: ["llm.prompt_template.name"],
    variables: ["llm.prompt_template.variables"],
  },
  derive: ({ bag }) => ({ ...parametersOf(bag), span_name: toolName(bag) }),
  usage: {
    input: ["llm.token_count.prompt"],
    output: ["llm.token_count.completion"],
    total: ["llm.token_count.total"],
    cacheRead: ["llm.token_count.prompt_details.cache_read"],
    cacheWrite: ["llm.token_count.prompt_details.cache_write"],
    reasoning: ["llm.token_count.completion_details.reasoning"],
    audioInput: ["llm.token_count.prompt_details.audio"],
    audioOutput: ["llm.token_count.completion_details.audio"],
  },
  cost: ["llm.cost.total"],
  costParts: ["llm.cost.prompt", "llm.cost.completion"],
  metadataObjects: ["metadata"],
  content(view) {
    const { bag } = view;
    const prompt = takeIndexed(bag, "llm.input_messages").flatMap((item) => messagesOf(bag, item, "user"));
    const completions = takeIndexed(bag, "llm.output_messages").flatMap((item) => messagesOf(bag, item, "assistant"));
    const tools = takeIndexed(bag, "llm.tools").map((item) => toolOf(bag.parsed(item.get("tool.json_schema"))));
    const isModel = bag.peekText("openinference.span.kind")?.toLowerCase() === "llm";
    return {
      prompt: prompt.length > 0 ? prompt : isModel ? takeMessages(bag, "input.value", "user") : undefined,
      completions:
        completions.length > 0 ? completions : isModel ? takeMessages(bag, "output.value", "assistant") : undefined,
      tools,
      ...rawValues(view, { hasPrompt: prompt.length > 0, hasCompletions: completions.length > 0 }),
    };
  },
};

/** The raw request and answer of a model call repeat its messages, so they are dropped; of all else they are the content. */
function rawValues(
  { bag }: SpanView,
  { hasPrompt, hasCompletions }: { hasPrompt: boolean; hasCompletions: boolean },
): { input?: unknown; output?: unknown } {
  if (!bag.hasFamily("openinference") && !bag.hasFamily("input", "output")) return {};
  bag.drop("input.mime_type", "output.mime_type");
  if (hasPrompt) bag.drop("input.value");
  if (hasCompletions) bag.drop("output.value");
  const texts = takeIndexed(bag, "embedding.embeddings").map((item) => item.get("embedding.text"));
  const input = bag.take("input.value") ?? (texts.some((text) => text !== undefined) ? texts : undefined);
  return { input, output: bag.take("output.value") };
}

function takeMessages(bag: AttributeBag, key: string, role: string): Message[] | undefined {
  const value = bag.peekTree(key);
  const list = isObject(value) ? (value["messages"] ?? value["input"]) : value;
  if (holdsMessages(list)) {
    bag.drop(key);
    return toMessages(list, role);
  }
  return undefined;
}

function messagesOf(bag: AttributeBag, item: IndexedItem, role: string): Message[] {
  const calls = indexedIn(item, "message.tool_calls").map(callOf);
  const parts = indexedIn(item, "message.contents").flatMap((part) => partOf(bag, part, calls.length === 0));
  const oldName = item.get("message.function_call_name");
  const content = parts.length > 0 ? parts : item.get("message.content");
  return toMessages(
    {
      role: item.get("message.role"),
      name: item.get("message.name"),
      content,
      tool_call_id: item.get("message.tool_call_id"),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(oldName !== undefined && {
        function_call: { name: oldName, arguments: item.get("message.function_call_arguments_json") },
      }),
    },
    role,
  );
}

function callOf(item: IndexedItem): Record<string, unknown> {
  return {
    id: item.get("tool_call.id"),
    name: item.get("tool_call.function.name"),
    arguments: item.get("tool_call.function.arguments"),
  };
}

/** One part of a message. A call among the parts repeats the message's own calls, where it has any. */
function partOf(bag: AttributeBag, item: IndexedItem, keepCalls: boolean): unknown[] {
  if (item.has("tool_call.function.name")) return keepCalls ? [{ ...callOf(item), type: "tool_call" }] : [];
  const type = item.get("message_content.type");
  if (type === "tool_use") return [];
  const text = item.get("message_content.text");
  const image = item.get("message_content.image.image.url");
  if (image !== undefined) return [{ type: "image_url", image_url: { url: image } }];
  if (type === "reasoning" || type === "thinking") return [{ type: "reasoning", content: text }];
  if (text !== undefined) return [{ type: "text", text }];
  const rest = [...item].map(([key, value]) => [key.replace(/^message_content\./, ""), bag.parsed(value)] as const);
  return [Object.fromEntries(rest)];
}

function parametersOf(bag: AttributeBag): Record<string, unknown> {
  const parameters = bag.peekTree("llm.invocation_parameters");
  if (!isObject(parameters)) return {};
  bag.drop("llm.invocation_parameters");
  const entries = Object.entries(parameterFields).map(([field, names]) => [
    field,
    names.map((name) => parameters[name]).find((value) => value !== undefined && value !== null),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function toolName(bag: AttributeBag): string | undefined {
  return bag.peekText("openinference.span.kind")?.toLowerCase() === "tool" ? bag.takeText("tool.name") : undefined;
}

import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent, SpanView } from "../convention.ts";
import { indexedIn, takeIndexed, type IndexedItem } from "../indexed-keys.ts";
import { toMessages, type Message } from "../../../messages/message.ts";
import { readRequest } from "../../../messages/request.ts";
import { readResponse } from "../../../messages/response.ts";
import { readCall, consumeParameters } from "../read-parameters.ts";
import { toolOf } from "../../../messages/tool-calls.ts";

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
    prompt_id: ["prompt.id"],
    prompt_name: ["llm.prompt_template.name"],
    prompt_version_number: ["llm.prompt_template.version"],
    variables: ["llm.prompt_template.variables"],
  },
  derive: ({ bag }) => {
    const parameterKeys = ["llm.invocation_parameters", "embedding.invocation_parameters"];
    const calls = isCall(bag) ? [...parameterKeys, "input.value"].map((key) => readCall(bag.peekTree(key))) : [];
    return {
      ...Object.assign({}, ...calls.toReversed()),
      ...Object.assign({}, ...parameterKeys.map((key) => consumeParameters(bag, key))),
      ...(kindOf(bag) === "llm" && answerOf(bag)),
      span_name: toolName(bag),
    };
  },
  usage: {
    input: ["llm.token_count.prompt"],
    output: ["llm.token_count.completion"],
    total: ["llm.token_count.total"],
    cacheRead: ["llm.token_count.prompt_details.cache_read", "llm.token_count.prompt_details.cache_input"],
    cacheWrite: ["llm.token_count.prompt_details.cache_write"],
    reasoning: ["llm.token_count.completion_details.reasoning"],
    audioInput: ["llm.token_count.prompt_details.audio"],
    imageInput: ["llm.token_count.prompt_details.image"],
    audioOutput: ["llm.token_count.completion_details.audio"],
    imageOutput: ["llm.token_count.completion_details.image"],
  },
  cost: ["llm.cost.total"],
  costParts: ["llm.cost.prompt", "llm.cost.completion"],
  metadataObjects: ["metadata"],
  content(view) {
    const { bag } = view;
    const prompt = takeIndexed(bag, "llm.input_messages").flatMap((item) => messagesOf(bag, item, "user"));
    const completions = takeIndexed(bag, "llm.output_messages").flatMap((item) => messagesOf(bag, item, "assistant"));
    const tools = takeIndexed(bag, "llm.tools").map((item) => toolOf(bag.parsed(item.get("tool.json_schema"))));
    prompt.push(...textsOf(bag, "llm.prompts", "prompt.text").flatMap((text) => toMessages(text, "user")));
    completions.push(
      ...textsOf(bag, "llm.choices", "completion.text").flatMap((text) => toMessages(text, "assistant")),
    );
    const raw = kindOf(bag) === "llm" ? rawExchange(bag) : {};
    const messages = {
      prompt: prompt.length > 0 ? prompt : raw.prompt,
      completions: completions.length > 0 ? completions : raw.completions,
    };
    return {
      ...messages,
      // Anthropic's instructions are separate from the messages.
      system: raw.prompt?.find(({ role }) => role === "system"),
      tools: tools.length > 0 ? tools : raw.tools,
      ...documentsOf(bag),
      ...rawValues(view, {
        hasPrompt: messages.prompt !== undefined,
        hasCompletions: messages.completions !== undefined,
      }),
    };
  },
};

function kindOf(bag: AttributeBag): string | undefined {
  return bag.peekText("openinference.span.kind")?.toLowerCase();
}

function isCall(bag: AttributeBag): boolean {
  const kind = kindOf(bag);
  return kind === "llm" || kind === "embedding";
}

/** Content from the bodies of request and response, for instrumentations that only record these. */
function rawExchange(bag: AttributeBag): Pick<SpanContent, "prompt" | "completions" | "tools"> {
  const request = readRequest(bag.peekTree("input.value"));
  return { prompt: request?.prompt, tools: request?.tools, completions: readResponse(bag.peekTree("output.value")) };
}

/** Texts of the completions API: a list, or one key per text. */
function textsOf(bag: AttributeBag, prefix: string, member: string): unknown[] {
  const indexed = takeIndexed(bag, prefix).map((item) => item.get(member));
  const list = bag.peek(prefix);
  if (indexed.length > 0 || !Array.isArray(list)) return indexed;
  bag.drop(prefix);
  return list;
}

/** Results of retrievers and rerankers. The span's output repeats them, sometimes without the scores. */
function documentsOf(bag: AttributeBag): Pick<SpanContent, "input" | "output"> {
  const kind = kindOf(bag);
  if (kind === "retriever") {
    const found = takeDocuments(bag, "retrieval.documents");
    if (found) bag.drop("output.value");
    return found ? { output: found } : {};
  }
  if (kind !== "reranker") return {};
  const given = takeDocuments(bag, "reranker.input_documents");
  const ranked = takeDocuments(bag, "reranker.output_documents");
  if (given) bag.drop("input.value");
  if (ranked) bag.drop("output.value");
  return {
    ...(given && { input: { query: bag.take("reranker.query"), documents: given } }),
    ...(ranked && { output: ranked }),
  };
}

function takeDocuments(bag: AttributeBag, prefix: string): unknown[] | undefined {
  const documents = takeIndexed(bag, prefix).map((item) =>
    Object.fromEntries([...item].map(([key, value]) => [key.replace(/^document\./, ""), bag.parsed(value)])),
  );
  return documents.length > 0 ? documents : undefined;
}

/**
 * The raw request and response of a model call repeat its messages and are dropped; for other spans they are the
 * content.
 */
function rawValues(
  { bag }: SpanView,
  { hasPrompt, hasCompletions }: { hasPrompt: boolean; hasCompletions: boolean },
): { input?: unknown; output?: unknown } {
  if (!bag.hasFamily("openinference") && !bag.hasFamily("input", "output")) return {};
  bag.drop("input.mime_type", "output.mime_type");
  if (hasPrompt) bag.drop("input.value");
  if (hasCompletions) bag.drop("output.value");
  const texts = takeIndexed(bag, "embedding.embeddings").map((item) => item.get("embedding.text"));
  const haveText = texts.some((text) => text !== undefined);
  if (haveText) takeEmbedded(bag, texts);
  const input = haveText ? texts : bag.take("input.value");
  const output = bag.take("output.value");
  return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
}

/** Takes the request with these texts; if it is Python's printed form, it contains nothing new. */
function takeEmbedded(bag: AttributeBag, texts: readonly unknown[]): void {
  const given = bag.peekTree("input.value");
  const isPrinted =
    typeof given === "string" && texts.every((text) => typeof text === "string" && given.includes(text));
  if (isPrinted) bag.accept("input.value");
  else bag.drop("input.value");
}

/** Facts in the raw response: its id, and the tier that served the call. */
function answerOf(bag: AttributeBag): Record<string, unknown> {
  const answer = bag.peekTree("output.value");
  if (!isObject(answer)) return {};
  const usage = isObject(answer["usage"]) ? answer["usage"] : {};
  const tier = answer["service_tier"] ?? usage["service_tier"];
  return {
    response_id: answer["id"] ?? answer["response_id"] ?? answer["responseId"],
    usage: typeof tier === "string" ? { service_tier: tier } : undefined,
  };
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

/** One part of a message. A call among the parts is dropped if the message has calls of its own, which it repeats. */
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
  if (type !== "audio") return [Object.fromEntries(rest)];
  const audio = rest
    .filter(([key]) => key.startsWith("audio."))
    .map(([key, value]) => [key.replace(/^(?:audio\.)+/, ""), value]);
  return [{ type, audio: Object.fromEntries(audio) as Record<string, unknown> }];
}

function toolName(bag: AttributeBag): string | undefined {
  return kindOf(bag) === "tool" ? bag.takeText("tool.name") : undefined;
}

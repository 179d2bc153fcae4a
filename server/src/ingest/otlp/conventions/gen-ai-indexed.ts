import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention } from "../convention.ts";
import { indexedIn, takeIndexed, type IndexedItem } from "../indexed-keys.ts";
import { toMessages, type Message } from "../messages/message.ts";
import { readRequest, type Request } from "../messages/request.ts";
import { readResponse } from "../messages/response.ts";
import { toolOf } from "../messages/tool-calls.ts";

/** GenAI before 1.37 as OpenLLMetry writes it: `gen_ai.prompt.N.role`, `gen_ai.completion.N.content` … */
export const genAiIndexed: Convention = {
  name: "gen-ai-indexed",
  applies: ({ bag }) => bag.hasFamily("gen_ai", "llm"),
  fields: {
    stream: ["llm.is_streaming"],
    customer_identifier: ["llm.user"],
    frequency_penalty: ["llm.frequency_penalty"],
    presence_penalty: ["llm.presence_penalty"],
    stop: ["llm.chat.stop_sequences"],
  },
  usage: {
    total: ["llm.usage.total_tokens"],
    cacheRead: ["llm.usage.cache_read_input_tokens"],
    cacheWrite: ["llm.usage.cache_creation_input_tokens"],
  },
  content({ bag }) {
    const prompt = indexedMessages(bag, "gen_ai.prompt", "user");
    const completions = indexedMessages(bag, "gen_ai.completion", "assistant");
    const tools = takeIndexed(bag, "llm.request.functions").map(toolOfItem);
    const request = prompt.length > 0 ? undefined : readWhole(bag, "gen_ai.prompt", readPrompt);
    return {
      prompt: request?.prompt ?? prompt,
      completions: completions.length > 0 ? completions : readWhole(bag, "gen_ai.completion", readCompletion),
      tools: tools.length > 0 ? tools : request?.tools,
    };
  },
};

function indexedMessages(bag: AttributeBag, prefix: string, role: string): Message[] {
  return takeIndexed(bag, prefix).flatMap((item) => toMessages(rawMessage(bag, item), role));
}

function readPrompt(whole: unknown): Pick<Request, "prompt" | "tools"> | undefined {
  return areTexts(whole) ? { prompt: toMessages(whole, "user"), tools: undefined } : readRequest(whole);
}

function readCompletion(whole: unknown): Message[] | undefined {
  return areTexts(whole) ? toMessages(whole, "assistant") : readResponse(whole);
}

/** A text, or a list of texts as Spring AI has it. */
function areTexts(whole: unknown): boolean {
  const items = Array.isArray(whole) ? (whole as unknown[]) : [whole];
  return items.length > 0 && items.every((item) => typeof item === "string");
}

/** The oldest form: a whole request or answer as JSON in one attribute, or just what was said. */
function readWhole<T>(bag: AttributeBag, key: string, read: (whole: unknown) => T | undefined): T | undefined {
  const found = read(bag.peekTree(key));
  if (found !== undefined) bag.drop(key);
  return found;
}

function rawMessage(bag: AttributeBag, item: IndexedItem): Record<string, unknown> {
  const calls = indexedIn(item, "tool_calls").map((call) => ({
    id: call.get("id"),
    name: call.get("name") ?? call.get("function.name"),
    arguments: call.get("arguments") ?? call.get("function.arguments"),
  }));
  const content = item.get("content");
  // Exporters in JavaScript write the missing content of a call as text.
  const isMissing = content === "null" && item.get("role") === "assistant";
  return {
    role: item.get("role"),
    content: isMissing ? null : blocksOrText(bag, content),
    tool_call_id: item.get("tool_call_id"),
    reasoning_content: item.get("reasoning_content") ?? item.get("reasoning"),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Content of several parts comes as JSON text; other JSON is what was said. */
function blocksOrText(bag: AttributeBag, content: unknown): unknown {
  const parsed = bag.parsed(content);
  const isBlocks =
    Array.isArray(parsed) &&
    parsed.length > 0 &&
    (parsed as unknown[]).every((block) => typeof block === "object" && block !== null && "type" in block);
  return isBlocks ? parsed : content;
}

function toolOfItem(item: IndexedItem): unknown {
  const given = item.get("parameters") ?? item.get("arguments") ?? item.get("input_schema");
  return toolOf({ name: item.get("name"), description: item.get("description"), parameters: parsedSchema(given) });
}

function parsedSchema(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return given;
  }
}

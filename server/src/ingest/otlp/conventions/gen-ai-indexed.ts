import { isObject } from "../../../lib/json.ts";
import { plainText } from "../../../messages/blocks.ts";
import { wordIn } from "../../../messages/json-word.ts";
import { containsMessages, toMessages, type Message } from "../../../messages/message.ts";
import { readRequest, type Request } from "../../../messages/request.ts";
import { readResponse } from "../../../messages/response.ts";
import { toolOf, toolsOf } from "../../../messages/tool-calls.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention } from "../convention.ts";
import { indexedIn, takeIndexed, type IndexedItem } from "../indexed-keys.ts";

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
    const prompt = completedBy(
      indexedMessages(bag, "gen_ai.prompt", "user"),
      otherForm(bag, "traceloop.entity.input", "user"),
    );
    const completions = completedBy(
      indexedMessages(bag, "gen_ai.completion", "assistant"),
      otherForm(bag, "traceloop.entity.output", "assistant"),
    );
    const tools = toolsIn(bag);
    const request = prompt.length > 0 ? undefined : readWhole(bag, "gen_ai.prompt", readPrompt);
    return {
      prompt: request?.prompt ?? prompt,
      completions: completions.length > 0 ? completions : readWhole(bag, "gen_ai.completion", readCompletion),
      tools: tools.length > 0 ? tools : request?.tools,
    };
  },
};

function indexedMessages(bag: AttributeBag, prefix: string, role: string): Message[] {
  const items = takeIndexed(bag, prefix);
  // Anthropic's instrumentations encode all contents as JSON, including plain text.
  const contents = items.map((item) => item.get("content")).filter((content) => content !== undefined);
  const areEncoded = contents.length > 1 && contents.every((content) => typeof content === "string" && isJson(content));
  return items.flatMap((item) => toMessages(rawMessage(bag, item, areEncoded), role));
}

function isJson(text: string): boolean {
  return wordIn(text) !== text || /^[[{]/.test(text);
}

/** The same messages as recorded by a decorator: in their original form, in one list or in a batch of one. */
function otherForm(bag: AttributeBag, key: string, role: string): Message[] {
  const given = bag.peekTree(key);
  const only = Array.isArray(given) && given.length === 1 && Array.isArray(given[0]) ? (given[0] as unknown) : given;
  if (containsMessages(only)) return toMessages(only, role);
  return isObject(only) && ("content" in only || "tool_calls" in only) ? toMessages(only, role) : [];
}

/** `llm.request.functions.N.name` …, or all definitions as one JSON text. */
function toolsIn(bag: AttributeBag): unknown[] {
  const tools = takeIndexed(bag, "llm.request.functions").map(toolOfItem);
  return tools.length > 0 ? tools : (toolsOf(bag.takeTree("llm.request.functions")) ?? []);
}

function readPrompt(whole: unknown): Pick<Request, "prompt" | "tools"> | undefined {
  return areTexts(whole) ? { prompt: toMessages(whole, "user"), tools: undefined } : readRequest(whole);
}

function readCompletion(whole: unknown): Message[] | undefined {
  // OpenRouter puts the text into an object.
  const completion = isObject(whole) && typeof whole["completion"] === "string" ? whole["completion"] : whole;
  return areTexts(completion) ? toMessages(completion, "assistant") : readResponse(completion);
}

/** A text, or a list of texts as in Spring AI. */
function areTexts(whole: unknown): boolean {
  const items = Array.isArray(whole) ? (whole as unknown[]) : [whole];
  return items.length > 0 && items.every((item) => typeof item === "string");
}

/** The oldest form: a whole request or response as JSON in one attribute, or just its text. */
function readWhole<T>(bag: AttributeBag, key: string, read: (whole: unknown) => T | undefined): T | undefined {
  const found = read(bag.peekTree(key));
  if (found !== undefined) bag.drop(key);
  return found;
}

function rawMessage(bag: AttributeBag, item: IndexedItem, isEncoded: boolean): Record<string, unknown> {
  const calls = callsOf(bag, item);
  const given = item.get("content");
  const content = isEncoded && typeof given === "string" ? wordIn(given) : given;
  // Exporters in JavaScript write the missing content of a call as the text "null".
  const isMissing = content === "null" && item.get("role") === "assistant";
  return {
    role: item.get("role"),
    name: item.get("name"),
    content: isMissing ? null : blocksOrText(bag, content),
    tool_call_id: item.get("tool_call_id"),
    reasoning_content: plainText(bag.parsed(item.get("reasoning_content") ?? item.get("reasoning"))),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** One key per part of each call, or all calls of the message as one JSON text. */
function callsOf(bag: AttributeBag, item: IndexedItem): unknown[] {
  const whole = bag.parsed(item.get("tool_calls"));
  if (Array.isArray(whole)) return whole as unknown[];
  return indexedIn(item, "tool_calls").map((call) => ({
    id: call.get("id"),
    name: call.get("name") ?? call.get("function.name"),
    arguments: call.get("arguments") ?? call.get("function.arguments"),
  }));
}

/** Content with several parts is JSON text of blocks; other JSON is the content itself. */
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

/**
 * Completes messages with ids, names and calls from another form of the same messages. They count as the same if their
 * roles are equal; otherwise the first form is returned unchanged.
 */
function completedBy(messages: readonly Message[], other: readonly Message[]): Message[] {
  const areSame = messages.length === other.length && messages.every(({ role }, index) => role === other[index]?.role);
  if (!areSame) return [...messages];
  return messages.map((message, index) => {
    const { content, ...more } = other[index] ?? message;
    // Some instrumentations encode the content a second time.
    const isQuoted = typeof content === "string" && message.content === JSON.stringify(content);
    const isOpen = message.content === "" || message.content === null;
    return { ...more, ...message, ...((isQuoted || (isOpen && content !== "")) && { content }) };
  });
}

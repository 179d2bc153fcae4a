import { isObject, isRawNumber } from "../lib/json.ts";
import { createContent, readBlock, type Content } from "./blocks.ts";
import { toolCallOf, type ToolCall } from "./tool-calls.ts";

/** A message in OpenAI's format. */
export type Message = {
  role: string;
  content: unknown;
  name?: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  reasoning_content?: string;
  refusal?: string;
  /** The number of the choice that the message is, or is part of, if it was sent; `answersOf` removes it. */
  choice?: number;
};

const roleAliases = new Map([
  ["model", "assistant"],
  ["ai", "assistant"],
  ["aimessage", "assistant"],
  ["aimessagechunk", "assistant"],
  ["human", "user"],
  ["humanmessage", "user"],
  ["systemmessage", "system"],
  ["developer", "system"],
  ["function", "tool"],
  ["toolmessage", "tool"],
  ["functionmessage", "tool"],
]);
const knownRoles = new Set(["system", "user", "assistant", "tool"]);

/**
 * Converts messages of any known shape to OpenAI messages: GenAI semantic conventions (`parts`), OpenAI chat and
 * Responses, Anthropic, Bedrock, Gemini, the AI SDK, LangChain. Plain text gets the role `role`. A message with tool
 * results becomes one message per result, followed by the remainder of the message.
 */
export function toMessages(raw: unknown, role: string): Message[] {
  if (Array.isArray(raw)) return (raw as unknown[]).flatMap((item) => toMessages(item, role));
  if (typeof raw === "string") return raw === "" ? [] : [{ role, content: raw }];
  return isObject(raw) ? messagesOfObject(raw, role) : [];
}

/** The messages of one of several choices; `index` is a number if it was sent. */
export function ofChoice(messages: readonly Message[], index: unknown): Message[] {
  return typeof index === "number" ? messages.map((message) => ({ ...message, choice: index })) : [...messages];
}

/** Items of the Responses API that occur beside messages. */
const itemType = /^(?:reasoning|compaction|item_reference|mcp_\w+|(?:\w+_)?(?:call|call_output))$/;

/** Whether a value looks like a message, or a list of them. */
export function containsMessages(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && (value as unknown[]).every(containsMessages);
  if (!isObject(value) || isRawNumber(value)) return false;
  const { type } = value;
  if ("role" in value || value["lc"] === 1 || Array.isArray(value["parts"])) return true;
  // LangChain's messages give the role in their type.
  return typeof type === "string" && (itemType.test(type) || ("content" in value && roleOf(type) !== undefined));
}

/** Puts the instructions first, unless there already is a system message. */
export function withSystem(messages: Message[], system: Message | undefined): Message[] {
  if (system === undefined || messages.some(({ role }) => role === "system")) return messages;
  return [system, ...messages];
}

function messagesOfObject(raw: Record<string, unknown>, defaultRole: string): Message[] {
  // LangChain's own serialization: {"lc": 1, "id": [..., "HumanMessage"], "kwargs": {...}}
  if (raw["lc"] === 1 && isObject(raw["kwargs"])) {
    const className = Array.isArray(raw["id"]) ? (raw["id"] as unknown[]).at(-1) : undefined;
    return messagesOfObject(raw["kwargs"], roleOf(className) ?? defaultRole);
  }
  // Items of the Responses API occur beside messages: calls and their outputs are not members of a message.
  const isItem =
    ["role", "content", "parts", "tool_calls", "toolCalls"].every((member) => isAbsent(raw[member])) &&
    (raw["content"] === undefined || typeof raw["type"] === "string");
  const role = roleOf(raw["role"]) ?? roleOf(raw["type"]) ?? defaultRole;
  const content = createContent();
  const given = isItem ? [raw] : (raw["parts"] ?? raw["content"]);
  for (const block of Array.isArray(given) ? (given as unknown[]) : [given]) readBlock(block, content);
  return [...resultsOf(content), ...restOf(isItem ? {} : raw, role, content)];
}

/** A reasoning item has no content, `null` or an empty list. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function resultsOf({ toolResults }: Content): Message[] {
  return toolResults.map(({ id, content }) => ({
    role: "tool",
    ...(id !== undefined && { tool_call_id: id }),
    content,
  }));
}

function restOf(raw: Record<string, unknown>, role: string, content: Content): Message[] {
  const toolCalls = withoutRepeats([...callsOf(raw), ...content.toolCalls]);
  const reasoning = textOf(raw["reasoning_content"]) ?? textOf(content.reasoning.join("\n"));
  const hasContent = content.parts.length > 0 || toolCalls.length > 0 || reasoning !== undefined;
  if (!hasContent && content.toolResults.length > 0) return [];

  const toolCallId = textOf(raw["tool_call_id"]) ?? textOf(raw["toolCallId"]);
  const name = textOf(raw["name"]);
  const refusal = textOf(raw["refusal"]) ?? textOf(content.refusals.join("\n"));
  const message: Message = {
    role: speakerOf(role, {
      isResult: toolCallId !== undefined,
      isAnswer: toolCalls.length > 0 || reasoning !== undefined,
    }),
    content: contentOf(content, toolCalls.length > 0),
  };
  if (name !== undefined) message.name = name;
  if (toolCallId !== undefined) message.tool_call_id = toolCallId;
  if (reasoning !== undefined) message.reasoning_content = reasoning;
  if (refusal !== undefined) message.refusal = refusal;
  if (toolCalls.length > 0) message.tool_calls = toolCalls;
  return [message];
}

/** Only models reason and call tools; and some instrumentations send tool results with the role user. */
function speakerOf(role: string, { isResult, isAnswer }: { isResult: boolean; isAnswer: boolean }): string {
  if (isResult && role !== "assistant") return "tool";
  return isAnswer ? "assistant" : role;
}

/** A single text becomes a string; anything else becomes a list. */
function contentOf({ parts }: Content, hasCalls: boolean): unknown {
  const [first] = parts;
  if (first === undefined) return hasCalls ? null : "";
  return parts.length === 1 && isObject(first) && first["type"] === "text" ? first["text"] : parts;
}

function callsOf(raw: Record<string, unknown>): ToolCall[] {
  const given = raw["tool_calls"] ?? raw["toolCalls"];
  const list = Array.isArray(given) ? (given as unknown[]) : [];
  const old = isObject(raw["function_call"]) ? [raw["function_call"]] : [];
  return [...list, ...old].filter(isObject).map(toolCallOf);
}

function withoutRepeats(calls: ToolCall[]): ToolCall[] {
  const seen = new Set<string>();
  return calls.filter(({ id }) => {
    if (id === undefined || !seen.has(id)) {
      if (id !== undefined) seen.add(id);
      return true;
    }
    return false;
  });
}

function roleOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const role = value.toLowerCase();
  const known = roleAliases.get(role) ?? role;
  return knownRoles.has(known) ? known : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

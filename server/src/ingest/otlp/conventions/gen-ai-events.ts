import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent } from "../convention.ts";
import type { OtlpEvent } from "../export-request.ts";
import { ofChoice, toMessages, type Message } from "../../../messages/message.ts";
import { structuredContent } from "./gen-ai.ts";

/** Event name → the role of its message. */
const messageEvents = new Map([
  ["gen_ai.system.message", "system"],
  ["gen_ai.user.message", "user"],
  ["gen_ai.assistant.message", "assistant"],
  ["gen_ai.tool.message", "tool"],
]);

const structuredKeys = {
  input: "gen_ai.input.messages",
  output: "gen_ai.output.messages",
  system: "gen_ai.system_instructions",
  tools: "gen_ai.tool.definitions",
} as const;

/** Whether an event or a log record carries content of its span. */
export function isContentEvent({ name }: Pick<OtlpEvent, "name">): boolean {
  return (
    messageEvents.has(name) ||
    name === "gen_ai.choice" ||
    name === "gen_ai.client.inference.operation.details" ||
    name === "gen_ai.content.prompt" ||
    name === "gen_ai.content.completion"
  );
}

/** Whether an event of this name is one message, so that unstructured text is its content. */
export function saysContent(name: string): boolean {
  return messageEvents.has(name) || name === "gen_ai.choice";
}

/** Messages as events of the span, or as log records that were joined to it: GenAI 1.28 to 1.36, and 1.37's details. */
export const genAiEvents: Convention = {
  name: "gen-ai-events",
  applies: ({ events }) => events.some(isContentEvent),
  content(view) {
    const { bag, operation } = view;
    const events = view.events.filter(isContentEvent);
    view.events = view.events.filter((event) => !isContentEvent(event));
    const content = contentOfEvents(bag, events);
    if (operation !== "execute_tool") return content;
    // Input and output of a tool are not a conversation.
    const given = content.prompt?.at(-1);
    return {
      input: given?.tool_calls?.[0]?.function.arguments ?? given?.content,
      output: content.completions?.[0]?.content,
    };
  },
};

/** Combines the content of all events of one span. */
export function contentOfEvents(bag: AttributeBag, events: readonly OtlpEvent[]): SpanContent {
  const prompt: Message[] = [];
  const completions: Message[] = [];
  const details: Record<keyof typeof structuredKeys, unknown> = {
    input: undefined,
    output: undefined,
    system: undefined,
    tools: undefined,
  };
  const outputs: unknown[] = [];
  for (const { name, attributes } of events) {
    const role = messageEvents.get(name);
    if (role !== undefined) prompt.push(...toMessages(messageOf(bag, attributes), role));
    else if (name === "gen_ai.choice") {
      completions.push(...ofChoice(toMessages(choiceOf(bag, attributes), "assistant"), attributes.get("index")));
    } else if (name === "gen_ai.content.prompt") {
      // LiteLLM has more of the message in the body of its log record.
      const parsedPrompt = attributes.has("role")
        ? messageOf(bag, attributes)
        : bag.parsed(attributes.get("gen_ai.prompt"));
      prompt.push(...toMessages(parsedPrompt, "user"));
    } else if (name === "gen_ai.content.completion") {
      const answer = attributes.has("message")
        ? choiceOf(bag, attributes)
        : bag.parsed(attributes.get("gen_ai.completion"));
      completions.push(...toMessages(answer, "assistant"));
    }
    for (const [member, key] of Object.entries(structuredKeys)) {
      const value = bag.parsed(attributes.get(key) ?? undefined);
      if (member === "output" && value !== undefined) outputs.push(value);
      details[member as keyof typeof structuredKeys] ??= value;
    }
  }
  const structured = structuredContent(details);
  if (outputs.length > 1) structured.completions = piecesOf(outputs);
  return {
    prompt: structured.prompt && structured.prompt.length > 0 ? structured.prompt : prompt,
    system: structured.system,
    completions: structured.completions && structured.completions.length > 0 ? structured.completions : completions,
    tools: structured.tools,
    input: structured.input,
    output: structured.output,
  };
}

/** A stream of the Responses API is reported item by item: together they are one response. */
function piecesOf(outputs: readonly unknown[]): Message[] | undefined {
  const pieces = outputs.flatMap((output) => structuredContent({ output }).completions ?? []);
  return ofChoice(pieces, 0);
}

function messageOf(bag: AttributeBag, attributes: OtlpEvent["attributes"]): Record<string, unknown> {
  return {
    role: attributes.get("role"),
    content: blocksOf(bag, attributes.get("content") ?? attributes.get("gen_ai.event.content")),
    tool_calls: callsOf(bag, attributes),
    tool_call_id: attributes.get("id") ?? attributes.get("tool_call_id"),
    name: attributes.get("name"),
  };
}

/** `message` is a message, its content, or blocks as JSON text; the calls may be beside it. */
function choiceOf(bag: AttributeBag, attributes: OtlpEvent["attributes"]): Record<string, unknown> {
  const message = blocksOf(bag, attributes.get("message") ?? attributes.get("content"));
  const calls = callsOf(bag, attributes);
  const parts = isObject(message) && ("content" in message || "role" in message || "tool_calls" in message);
  const base = parts ? message : { content: message };
  return { ...base, ...(calls && { tool_calls: calls }) };
}

/** A list, JSON text of one, or, in LiveKit, a list of JSON texts. */
function callsOf(bag: AttributeBag, attributes: OtlpEvent["attributes"]): unknown[] | undefined {
  const calls = bag.parsed(attributes.get("tool_calls"));
  return Array.isArray(calls) ? (calls as unknown[]).map((call) => bag.parsed(call)) : undefined;
}

/** Parses JSON text of blocks; any other JSON is the content itself. */
function blocksOf(bag: AttributeBag, given: unknown): unknown {
  const parsed = bag.parsed(given);
  if (typeof given !== "string") return parsed;
  const isBlocks = Array.isArray(parsed) && parsed.length > 0 && (parsed as unknown[]).every(isObject);
  const isMessage = isObject(parsed) && ("content" in parsed || "tool_calls" in parsed);
  return isBlocks || isMessage ? parsed : given;
}

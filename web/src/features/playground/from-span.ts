import { isRecord } from "../../lib/exact-json.ts";
import { indentedJson } from "../../lib/indented-json.ts";
import { listOf, recordOf, textOf, type Span } from "../spans/span-record.ts";
import { blankDraft, type Draft, type DraftMessage } from "./draft.ts";

/** Parameters that apply to any model; those with their own field come first. */
const own = ["temperature", "max_tokens", "top_p"] as const;
const others = [
  "max_completion_tokens",
  "frequency_penalty",
  "presence_penalty",
  "n",
  "stop",
  "seed",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
];

/** The recorded call of a span as a draft. */
export function draftOfSpan(id: string, span: Span): Draft {
  const request = recordOf(span, "full_request");
  const given = (name: string): unknown => request[name] ?? span[name] ?? undefined;
  const more = Object.fromEntries(others.map((name) => [name, given(name)]).filter(([, value]) => value !== undefined));
  const [temperature, max_tokens, top_p] = own.map((name) => numberText(given(name)));
  const tools = listOf(span, "tools");
  const blank = blankDraft();
  const messages = messagesOf(span);
  return {
    span: id,
    models: [{ id: 1, name: textOf(span, "model") ?? "" }],
    messages: messages.length === 0 ? blank.messages : messages.map(draftMessage),
    tools: tools.length === 0 ? "" : indentedJson(tools),
    temperature: temperature ?? "",
    max_tokens: max_tokens ?? "",
    top_p: top_p ?? "",
    more: Object.keys(more).length === 0 ? "" : indentedJson(more),
  };
}

function messagesOf(span: Span): unknown[] {
  const messages = listOf(span, "prompt_messages");
  if (messages.length > 0) return messages;
  const input = span["input"];
  if (Array.isArray(input)) return input as unknown[];
  return input === null || input === undefined || input === "" ? [] : [input];
}

function draftMessage(raw: unknown, at: number): DraftMessage {
  const { role = "user", content, ...more } = isRecord(raw) && "role" in raw ? raw : { content: raw };
  const known = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== null && value !== undefined));
  const isText = typeof content === "string";
  const isEmpty = content === null || content === undefined;
  return {
    id: at + 1,
    role: typeof role === "string" ? role : "user",
    content: isText ? content : isEmpty ? "" : indentedJson(content),
    isJson: !isText && !isEmpty,
    more: Object.keys(known).length === 0 ? "" : indentedJson(known),
  };
}

const numberText = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value));

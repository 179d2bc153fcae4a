import { isObject } from "../lib/json.ts";
import type { Message } from "./message.ts";

export type Answers = {
  answer: Message | undefined;
  /** All messages of the response, if `answer` is only a part of them. */
  all?: readonly Message[];
};

/**
 * Finds the answer among the messages of a response. Several choices are alternatives, and the first one is the answer.
 * The Responses API, and agents, list the parts of one answer instead (reasoning, calls and text): these are joined,
 * starting after the last tool result, if there is one.
 */
export function answersOf(given: readonly Message[], choices: unknown): Answers {
  const numbered = numberedChoices(given);
  if (numbered !== undefined) return { answer: numbered[0], ...(numbered.length > 1 && { all: numbered }) };
  const assistantMessages = given.filter(({ role }) => role === "assistant");
  const [first] = assistantMessages;
  if (first === undefined) return { answer: given[0], ...(given.length > 1 && { all: given }) };
  const hasResults = given.some(({ role }) => role === "tool");
  const areChoices = !hasResults && ((typeof choices === "number" && choices > 1) || assistantMessages.every(isWhole));
  if (areChoices) return { answer: first, ...(given.length > 1 && { all: given }) };
  const answer = given.slice(startOfAnswer(given)).filter(({ role }) => role === "assistant");
  return { answer: joined(answer), ...(hasResults && { all: given }) };
}

/** Sorted by choice number; undefined if no message has one. */
function numberedChoices(given: readonly Message[]): Message[] | undefined {
  if (!given.some(({ choice }) => choice !== undefined)) return undefined;
  const parts = new Map<number, Message[]>();
  for (const { choice = 0, ...message } of given) {
    const known = parts.get(choice);
    if (known) known.push(message);
    else parts.set(choice, [message]);
  }
  return [...parts].toSorted(([a], [b]) => a - b).flatMap(([, messages]) => joined(messages) ?? []);
}

/** A text without calls can be a choice of its own. */
function isWhole({ content, tool_calls }: Message): boolean {
  return tool_calls === undefined && content !== null && content !== "";
}

function startOfAnswer(given: readonly Message[]): number {
  const lastContent = given.findLastIndex(({ role }) => role === "assistant");
  return given.findLastIndex(({ role }, index) => role === "tool" && index < lastContent) + 1;
}

function joined(messages: readonly Message[]): Message | undefined {
  const [first] = messages;
  if (first === undefined || messages.length === 1) return first;
  const parts = messages.flatMap(({ content }) => partsOf(content));
  const calls = messages.flatMap(({ tool_calls }) => tool_calls ?? []);
  const reasoning = joinedText(messages.map(({ reasoning_content }) => reasoning_content));
  const refusal = joinedText(messages.map(({ refusal: text }) => text));
  const [only] = parts;
  const isText = parts.length === 1 && isObject(only) && only["type"] === "text";
  return {
    ...first,
    content: isText ? only["text"] : parts.length > 0 ? parts : calls.length > 0 ? null : "",
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(refusal !== undefined && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function partsOf(content: unknown): unknown[] {
  if (Array.isArray(content)) return content as unknown[];
  return typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
}

function joinedText(texts: ReadonlyArray<string | undefined>): string | undefined {
  const known = texts.filter((text) => text !== undefined);
  return known.length === 0 ? undefined : known.join("\n");
}

/** Joins the chunks of a stream into one message. */
export function joinedChunks(chunks: readonly Message[]): Message[] {
  const assistantChunks = chunks.filter(({ role }) => role === "assistant");
  const [first] = assistantChunks;
  if (first === undefined || assistantChunks.length !== chunks.length) return [...chunks];
  const texts = assistantChunks.map(({ content }) => (typeof content === "string" ? content : undefined));
  const thoughts = assistantChunks.map(({ reasoning_content }) => reasoning_content ?? "").join("");
  const calls = assistantChunks.flatMap(({ tool_calls }) => tool_calls ?? []);
  const text = texts.join("");
  return [
    {
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      ...(thoughts !== "" && { reasoning_content: thoughts }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

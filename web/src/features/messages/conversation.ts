import { isRecord } from "../../lib/exact-json.ts";
import type { DisplayMessage, DisplayPart } from "./display-part.ts";
import { jsonIn } from "./members.ts";
import { pairTools } from "./pair-tools.ts";
import { containsMessages, messagesInText, readMessage } from "./read-message.ts";

/** The members of a span that hold its input and output. */
export type SpanContent = {
  log_type?: unknown;
  prompt_messages?: unknown;
  completion_message?: unknown;
  completion_messages?: unknown;
  input?: unknown;
  output?: unknown;
  reasoning?: unknown;
};

export type Conversation = {
  /** The messages as sent; `new_messages` are found among them. */
  sent: unknown[];
  answers: unknown[];
  /** Whether the answers are alternatives to each other. */
  areChoices: boolean;
  /**
   * Values that are not messages: arguments and results of tools, inputs of agents and embeddings. Absent if messages
   * exist.
   */
  input?: unknown;
  output?: unknown;
};

/** The content of a span, as messages if it has any. */
export function readConversation(span: SpanContent): Conversation {
  const sent = listOf(span.prompt_messages) ?? listOf(messagesIn(span.input)) ?? [];
  const choices = listOf(span.completion_messages) ?? [];
  const only = isAbsent(span.completion_message) ? listOf(messagesIn(span.output)) : [span.completion_message];
  const found = choices.length > 0 ? choices : only;
  const answers = withReasoning(found ?? [], span.reasoning);
  return {
    sent,
    answers,
    areChoices: choices.length > 1 && choices.every((choice) => isRecord(choice) && choice["role"] !== "tool"),
    ...(sent.length === 0 && !isAbsent(span.input) && { input: valueOf(span.input) }),
    ...(answers.length === 0 && !isAbsent(span.output) && { output: valueOf(span.output) }),
  };
}

export type Sections = {
  /** Messages of earlier turns. */
  history: DisplayMessage[];
  /** The new messages of this span. If only the answers are new, its last question. */
  turn: DisplayMessage[];
  answers: DisplayMessage[];
  /** Whether an earlier span sent the messages of `turn` too, as when a call is retried. */
  isRepeated: boolean;
};

/**
 * `isNew` is indexed by position among all messages, sent and answered: `placesOfNew`, or `guessNew` if the server does
 * not list new messages.
 */
export function toSections({ sent, answers }: Conversation, isNew: readonly boolean[]): Sections {
  // A new message before old ones, such as a system prompt that contains the time, keeps its place.
  const tail = Math.min(sent.length, isNew.slice(0, sent.length).lastIndexOf(false) + 1);
  const isRepeated = sent.length > 0 && tail === sent.length;
  const border = isRepeated ? startOfQuestion(sent) : tail;
  const messages = [
    ...sent.map((message, place) => readMessage(message, place)),
    ...answers.map((message, at) => readMessage(message, sent.length + at, "assistant")),
  ];
  const paired = pairTools(messages, border);
  return {
    history: paired.filter(({ place }) => place < border),
    turn: paired.filter(({ place }) => place >= border && place < sent.length),
    answers: paired.filter(({ place }) => place >= sent.length),
    isRepeated,
  };
}

/** The index after the last answer that the caller sent back: a question, or tool results. */
function startOfQuestion(sent: readonly unknown[]): number {
  const start =
    sent.findLastIndex((message) => isRecord(message) && /^(?:assistant|model|ai)$/.test(String(message["role"]))) + 1;
  return start === sent.length ? sent.length - 1 : start;
}

/**
 * Which of the messages are those that the server lists as new. They come in order; of equal messages the last are the
 * new ones, because earlier spans contain the others.
 */
export function placesOfNew(messages: readonly unknown[], added: readonly unknown[]): boolean[] {
  const isNew = messages.map(() => false);
  const texts = messages.map((message) => JSON.stringify(message));
  let end = messages.length;
  for (const message of added.toReversed()) {
    const text = JSON.stringify(message);
    const at = end === 0 ? -1 : texts.lastIndexOf(text, end - 1);
    if (at === -1) continue;
    isNew[at] = true;
    end = at;
  }
  return isNew;
}

/** Used if the server does not list new messages. */
export function guessNew({ sent, answers }: Pick<Conversation, "sent" | "answers">): boolean[] {
  const start = startOfQuestion(sent);
  return [...sent.map((_message, place) => place >= start), ...answers.map(() => true)];
}

/** A single value as the parts of a message. */
export function partsOfValue(value: unknown): DisplayPart[] {
  return typeof value === "string" ? [{ kind: "text", text: value }] : [{ kind: "value", label: "value", value }];
}

/** The approximate number of characters of messages; cheap, since it visits each message once. */
export function weightOf(messages: readonly unknown[]): number {
  let chars = 0;
  for (const message of messages) {
    const content = isRecord(message) ? message["content"] : message;
    for (const part of Array.isArray(content) ? (content as unknown[]) : [content]) {
      const text = isRecord(part) ? (part["text"] ?? part["content"]) : part;
      chars += typeof text === "string" ? text.length : typicalPartChars;
    }
  }
  return chars;
}

const typicalPartChars = 200;

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === "";

function listOf(value: unknown): unknown[] | undefined {
  return Array.isArray(value) && value.length > 0 ? (value as unknown[]) : undefined;
}

function messagesIn(value: unknown): unknown {
  if (typeof value === "string") return messagesInText(value);
  if (!containsMessages(value)) return undefined;
  return Array.isArray(value) ? value : [value];
}

const valueOf = (value: unknown): unknown => (typeof value === "string" ? (jsonIn(value) ?? value) : value);

/** Reasoning that was sent beside the answer belongs to it, unless it has its own. */
function withReasoning(answers: readonly unknown[], reasoning: unknown): unknown[] {
  const [first, ...others] = answers;
  if (isAbsent(reasoning) || !isRecord(first)) return [...answers];
  if (["reasoning_content", "reasoning", "thinking", "reasoning_details"].some((member) => !isAbsent(first[member])))
    return [...answers];
  return [
    { ...first, reasoning_content: typeof reasoning === "string" ? reasoning : JSON.stringify(reasoning) },
    ...others,
  ];
}

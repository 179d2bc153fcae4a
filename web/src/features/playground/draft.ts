import { isRecord, parseExactly } from "../../lib/exact-json.ts";

export const roles = ["system", "developer", "user", "assistant", "tool"] as const;

export type DraftMessage = {
  id: number;
  role: string;
  /** As typed: text, or JSON if the content has parts. */
  content: string;
  isJson: boolean;
  /** The message's other members as JSON, such as `tool_calls`; empty if none. */
  more: string;
};

export type DraftModel = { id: number; name: string };

/** The page's input, before it becomes a request. */
export type Draft = {
  /** The span that it was loaded from. */
  span: string | undefined;
  models: readonly DraftModel[];
  messages: readonly DraftMessage[];
  tools: string;
  temperature: string;
  max_tokens: string;
  top_p: string;
  /** Other parameters, as a JSON object. */
  more: string;
};

/** Error messages by field name; those of messages by `message ID`. */
export type Problems = Readonly<Record<string, string>>;

const echoModel = "spanway/echo";

export function blankDraft(): Draft {
  return {
    span: undefined,
    models: [{ id: 1, name: echoModel }],
    messages: [{ id: 1, role: "user", content: "", isJson: false, more: "" }],
    tools: "",
    temperature: "",
    max_tokens: "",
    top_p: "",
    more: "",
  };
}

/** An unused id. */
export const nextId = (list: readonly { id: number }[]): number => Math.max(0, ...list.map(({ id }) => id)) + 1;

/** The request body without its model, and the problems that prevent sending it. */
export function readDraft(draft: Draft): { body: Record<string, unknown>; problems: Problems } {
  const problems: Record<string, string> = {};
  const messages = draft.messages.map((message) => readDraftMessage(message, problems));
  if (messages.length === 0) problems["messages"] = "A call needs a message.";
  const tools = readJson(draft.tools);
  if (tools !== undefined && !Array.isArray(tools)) problems["tools"] = "Not a JSON list of tools.";
  const more = readJson(draft.more) ?? {};
  if (!isRecord(more)) problems["more"] = "Not a JSON object of parameters.";
  const body = {
    messages,
    ...(Array.isArray(tools) && tools.length > 0 && { tools: tools as unknown[] }),
    ...readNumbers(draft, problems),
    ...(isRecord(more) && more),
  };
  return { body, problems };
}

const numberNames = ["temperature", "max_tokens", "top_p"] as const;

function readNumbers(draft: Draft, problems: Record<string, string>): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const name of numberNames) {
    const typed = draft[name].trim();
    if (typed === "") continue;
    const value = Number(typed);
    if (Number.isFinite(value)) numbers[name] = value;
    else problems[name] = "Not a number.";
  }
  return numbers;
}

function readDraftMessage(message: DraftMessage, problems: Record<string, string>): Record<string, unknown> {
  const { id, role, content, isJson, more } = message;
  const others = readJson(more) ?? {};
  const parts = isJson ? readJson(content) : content;
  if (!isRecord(others)) problems[`message ${id}`] = "The other members are not a JSON object.";
  if (isJson && parts === notJson) problems[`message ${id}`] = "The content is not JSON.";
  const isCall = isRecord(others) && "tool_calls" in others;
  return { role, content: parts === "" && isCall ? null : (parts ?? null), ...(isRecord(others) && others) };
}

const notJson = Symbol("not JSON");

function readJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return parseExactly(text);
  } catch {
    return notJson;
  }
}

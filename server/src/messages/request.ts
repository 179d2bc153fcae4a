import { isObject } from "../lib/json.ts";
import { wordIn } from "./json-word.ts";
import { containsMessages, toMessages, withSystem, type Message } from "./message.ts";
import { toolsOf } from "./tool-calls.ts";

export type Request = { prompt: Message[]; tools: unknown[] | undefined };

const messageMembers = ["messages", "input", "contents"];
const systemMembers = ["instructions", "system", "system_instruction", "systemInstruction"];

/**
 * Reads a request to a model: the body of a chat, Responses, Anthropic or Gemini API, a part of one, or a bare list of
 * messages. Returns undefined if it is none of these.
 */
export function readRequest(given: unknown): Request | undefined {
  if (containsMessages(given)) return { prompt: toMessages(given, "user"), tools: undefined };
  if (!isObject(given)) return undefined;
  const content = messageMembers.map((member) => given[member]).find((value) => value !== undefined && value !== null);
  const tools = toolsOf(given["tools"]) ?? toolsOf(given["functions"]);
  const system = systemMembers.map((member) => systemText(given[member])).find((message) => message !== undefined);
  // Instructions alone, or a text in `input`, do not identify a request; a text beside instructions, tools or a model
  // does.
  const isRequest = (system ?? tools) !== undefined || typeof given["model"] === "string";
  const isText = typeof content === "string" && content !== "" && isRequest;
  const inner = isText ? { prompt: toMessages(content, "user"), tools: undefined } : readRequest(content);
  return inner && { prompt: withSystem(inner.prompt, system), tools: tools ?? inner.tools };
}

/** Instructions beside the messages: a message, a list of messages or of parts, or plain text. */
export function systemText(given: unknown): Message | undefined {
  if (typeof given === "string") return given === "" ? undefined : { role: "system", content: wordIn(given) };
  if (containsMessages(given)) return joined(toMessages(given, "system"));
  return Array.isArray(given) && given.length > 0
    ? toMessages({ role: "system", parts: given }, "system")[0]
    : undefined;
}

function joined(messages: readonly Message[]): Message | undefined {
  const texts = messages.map(({ content }) => content);
  const isText = texts.every((text) => typeof text === "string");
  if (messages.length === 0) return undefined;
  return { role: "system", content: isText ? texts.join("\n") : texts.flat() };
}

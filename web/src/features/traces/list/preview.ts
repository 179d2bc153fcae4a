import { containsMessages, readMessage } from "../../messages/read-message.ts";
import { messageText } from "../../messages/message-text.ts";

/** Longer inputs are shown as they are: parsing them would delay the list. */
const parsedCharsMax = 100_000;

/** What the user asked, if the input of a trace is JSON with messages; otherwise the input as it is. */
export function previewOf(input: unknown): string {
  if (typeof input !== "string") return "";
  const value = parsed(input);
  const messages = containsMessages(value) ? value : (value as { messages?: unknown } | null)?.messages;
  if (!containsMessages(messages)) return input;
  const texts = (Array.isArray(messages) ? (messages as unknown[]) : [messages]).map((raw, place) => {
    const message = readMessage(raw, place);
    return { tone: message.tone, text: messageText(message) };
  });
  const said = texts.filter(({ text }) => text !== "");
  return (said.findLast(({ tone }) => tone === "user") ?? said.at(-1))?.text ?? input;
}

function parsed(text: string): unknown {
  if (text.length > parsedCharsMax || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

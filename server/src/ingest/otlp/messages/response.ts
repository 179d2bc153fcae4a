import { isObject } from "../../../lib/json.ts";
import { holdsMessages, toMessages, type Message } from "./message.ts";

/** Member that holds the answers → member of each of them that holds the message. */
const answerMembers = [
  ["choices", "message"],
  ["output", "message"],
  ["candidates", "content"],
  ["generations", "message"],
] as const;

/**
 * What a model answered, as the body of a chat, Responses, Anthropic or Gemini API, as LangChain's generations, or as bare
 * messages; undefined where it is none of these.
 */
export function readResponse(given: unknown): Message[] | undefined {
  if (holdsMessages(given)) return toMessages(given, "assistant");
  if (!isObject(given)) return undefined;
  for (const [list, member] of answerMembers) {
    const answers = given[list];
    if (!Array.isArray(answers) || answers.length === 0) continue;
    const messages = (answers as unknown[])
      .flat()
      .map((answer) => (isObject(answer) ? (answer[member] ?? textMessage(answer["text"]) ?? answer) : undefined));
    if (holdsMessages(messages)) return toMessages(messages, "assistant");
  }
  return holdsMessages(given["message"]) ? toMessages(given["message"], "assistant") : undefined;
}

function textMessage(text: unknown): Message | undefined {
  return typeof text === "string" ? { role: "assistant", content: text } : undefined;
}

import { isObject } from "../lib/json.ts";
import { containsMessages, ofChoice, toMessages, type Message } from "./message.ts";

/** Member with the list of answers → member of each answer that contains the message. */
const answerMembers = [
  ["choices", "message"],
  ["output", "message"],
  ["candidates", "content"],
  ["generations", "message"],
] as const;

/**
 * Reads a model's response: the body of a chat, Responses, Anthropic or Gemini API, LangChain's generations, or bare
 * messages. Returns undefined if it is none of these.
 */
export function readResponse(given: unknown): Message[] | undefined {
  if (containsMessages(given)) return toMessages(given, "assistant");
  if (!isObject(given)) return undefined;
  for (const [list, member] of answerMembers) {
    const answers = given[list];
    if (!Array.isArray(answers) || answers.length === 0) continue;
    const items = (answers as unknown[]).flat();
    const messages = items.map((answer) =>
      isObject(answer) ? (answer[member] ?? textMessage(answer["text"]) ?? answer) : undefined,
    );
    if (!containsMessages(messages)) continue;
    return messages.flatMap((message, at) => ofChoice(toMessages(message, "assistant"), numberOf(items[at])));
  }
  return containsMessages(given["message"]) ? toMessages(given["message"], "assistant") : undefined;
}

/** Chat completions and Gemini's candidates are numbered. */
function numberOf(answer: unknown): unknown {
  return isObject(answer) ? answer["index"] : undefined;
}

function textMessage(text: unknown): Message | undefined {
  return typeof text === "string" ? { role: "assistant", content: text } : undefined;
}

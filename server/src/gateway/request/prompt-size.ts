import { isObject } from "../../lib/json.ts";
import { charsPerToken } from "../record/usage-report.ts";

/** An image, or a file without its content, counts as this many characters: its content is not text. */
const mediaChars = 4_000;
/** Base64 characters in a document per character of its text: pages are mostly pictures and fonts. */
const base64PerChar = 10;

/** Characters of the text that a call sends, for estimates. */
export function promptChars(request: Record<string, unknown>): number {
  const messages = Array.isArray(request["messages"]) ? (request["messages"] as unknown[]) : [];
  const tools = request["tools"] === undefined ? 0 : JSON.stringify(request["tools"]).length;
  const { input, instructions } = request;
  const start = tools + inputChars(input) + inputChars(instructions);
  return messages.reduce<number>((sum, message) => sum + messageChars(message), start);
}

/** Characters that a model generated, the same for a complete response and a stream. */
export function answerChars(messages: ReadonlyArray<Record<string, unknown>>): number {
  return messages.reduce((sum, message) => {
    const { content, reasoning_content, reasoning, refusal, tool_calls, function_call, audio } = message;
    const calls = Array.isArray(tool_calls) ? (tool_calls as unknown[]) : [];
    const contentChars =
      messageChars({ content }) +
      inputChars(reasoning_content || reasoning) +
      inputChars(refusal) +
      calledChars(function_call) +
      (isObject(audio) ? inputChars(audio["transcript"]) : 0);
    return calls.reduce<number>((total, call) => total + callChars(call), sum + contentChars);
  }, 0);
}

function callChars(call: unknown): number {
  return isObject(call) ? calledChars(call["custom"] ?? call["function"]) : 0;
}

function calledChars(called: unknown): number {
  if (!isObject(called)) return 0;
  return inputChars(called["name"]) + inputChars(called["input"] ?? called["arguments"]);
}

/** Text, or a list of texts, tokens or Responses API items. */
function inputChars(input: unknown): number {
  if (typeof input === "string") return input.length;
  if (typeof input === "number") return charsPerToken;
  if (Array.isArray(input)) return (input as unknown[]).reduce<number>((sum, item) => sum + inputChars(item), 0);
  if (!isObject(input)) return 0;
  const { arguments: args, output } = input;
  return (
    messageChars(input) +
    inputChars(args) +
    (Array.isArray(output) ? messageChars({ content: output }) : inputChars(output))
  );
}

function messageChars(message: unknown): number {
  if (!isObject(message)) return 0;
  const { content, tool_calls, images } = message;
  const drawn = Array.isArray(images) ? images.length * mediaChars : 0;
  const calls = drawn + (tool_calls === undefined ? 0 : JSON.stringify(tool_calls).length);
  if (typeof content === "string") return content.length + calls;
  if (!Array.isArray(content)) return calls;
  return (content as unknown[]).reduce<number>((sum, part) => {
    return isObject(part) ? sum + partChars(part) : sum;
  }, calls);
}

/** Thinking is text, or a list of texts (Mistral). */
function partChars(part: Record<string, unknown>): number {
  const { text, thinking } = part;
  if (typeof text === "string") return text.length;
  if (typeof thinking === "string") return thinking.length;
  return Array.isArray(thinking) ? messageChars({ content: thinking }) : mediaCharsOf(part);
}

/** Chat sends documents as `file: {file_data}`, the Responses API as `file_data`. */
function mediaCharsOf(part: Record<string, unknown>): number {
  const data = isObject(part["file"]) ? part["file"]["file_data"] : part["file_data"];
  return typeof data === "string" ? Math.max(mediaChars, data.length / base64PerChar) : mediaChars;
}

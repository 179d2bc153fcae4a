import { isObject, parseObjectText } from "../../lib/json.ts";
import type { SpanContent } from "./convention.ts";
import type { Message } from "../../messages/message.ts";

/**
 * Removes the response of a failed call if it is empty or only reports the failure: an error object, or the error
 * message as a message of the model.
 */
export function dropFailedAnswer(content: SpanContent, error: string): void {
  const isReport = ({ content: text, tool_calls, reasoning_content, refusal }: Message): boolean => {
    if ((tool_calls ?? reasoning_content ?? refusal) !== undefined) return false;
    return text === null || (typeof text === "string" && (isErrorObject(text) || repeats(error, text)));
  };
  if (content.completions?.every(isReport) === true) content.completions = undefined;
  if (isErrorObject(content.output)) content.output = undefined;
}

/** A short text may occur in an error by chance: the first word of an interrupted response. */
function repeats(error: string, text: string): boolean {
  return text === "" || text === error || (text.length >= 16 && error.includes(text));
}

/** `{"error": …}` with only members that describe it, or `{"output": null}`, as JSON text or as an object. */
function isErrorObject(given: unknown): boolean {
  const value = typeof given === "string" ? parseObjectText(given) : given;
  if (!isObject(value)) return false;
  const { error, ...rest } = value;
  const others = Object.entries(rest).filter(([, member]) => member !== null && member !== "");
  if (error === undefined || error === null || error === false) return others.length === 0;
  return others.every(([name]) => errorMembers.has(name));
}

const errorMembers: ReadonlySet<string> = new Set(["message", "status", "status_code", "code", "type", "param"]);

import { isObject, parseJsonText } from "../../../lib/json.ts";

/**
 * Completes a truncated JSON object: open strings, lists and objects are closed, and a member whose value has not started
 * is omitted. A text that is not the beginning of an object becomes the single member `incomplete_arguments`.
 */
export function completeJson(text: string): Record<string, unknown> {
  const closers: string[] = [];
  /** Where the last value ended, and the closing brackets needed there. */
  let end = 0;
  let atEnd = "";
  let isText = false;
  let isEscaped = false;
  const keep = (index: number): void => {
    end = index;
    atEnd = closers.toReversed().join("");
  };
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i] ?? "";
    if (isText) {
      if (isEscaped) isEscaped = false;
      else if (char === "\\") isEscaped = true;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === "{" || char === "[") {
      closers.push(char === "{" ? "}" : "]");
      keep(i + 1);
    } else if (char === "}" || char === "]") {
      if (closers.pop() !== char) return incomplete(text);
      keep(i + 1);
    } else if (char === ",") keep(i);
  }
  const open = closers.toReversed().join("");
  const candidates = [text + (isText ? `${isEscaped ? "\\" : ""}"` : "") + open, text.slice(0, end) + atEnd];
  for (const candidate of candidates) {
    const parsed = parseJsonText(candidate);
    if (parsed.ok && isObject(parsed.value)) return parsed.value;
  }
  return incomplete(text);
}

function incomplete(text: string): Record<string, unknown> {
  return { incomplete_arguments: text };
}

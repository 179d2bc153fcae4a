import { messageLogTypes, type ReadColumn } from "../../domain/span.ts";
import { exceedsShape, isObject, parseKeepingDigits } from "../../lib/json.ts";
import { domainLimits } from "../../domain/limits.ts";
import { filterLimits } from "../../filter/limits.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";

/**
 * The messages of a span, from the columns or from the text that replaces them. storage/spans/queries/conversation.ts
 * reads the same.
 */

/** Stored documents are text; those of a row that was just accepted may still be values. */
export const textOf = (span: StoredSpan, column: ReadColumn): string => {
  const value: unknown = span[column];
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : "";
};

const isMessageLog = (span: StoredSpan): boolean =>
  (messageLogTypes as readonly string[]).includes(span.log_type ?? "");

/** The messages in a text: a JSON list of them, one message, or plain text of `role`. */
function messagesOf(content: string, role: string): unknown[] | undefined {
  if (content === "") return undefined;
  const first = content.trimStart().charAt(0);
  if (first === "[" || first === "{") {
    try {
      const parsed = JSON.parse(content) as unknown;
      const list = Array.isArray(parsed) ? (parsed as unknown[]) : [parsed];
      // The text was never checked: one that cannot be serialized again must not break the list of its row.
      const isBounded = exceedsShape(list, filterLimits.spanDepth, domainLimits.spanNodes) === undefined;
      if (isBounded && list.length > 0 && list.every((item) => isObject(item) && "role" in item)) return list;
    } catch {
      // Not JSON after all: plain text.
    }
  }
  return [{ role, content }];
}

/** All messages, first those sent, then those received. */
export function messagesOfSpan(span: StoredSpan): unknown[] {
  const answers = listOf(textOf(span, "completion_messages"));
  const answer = answers.length === 0 ? parseKeepingDigits(completionMessage(span)) : null;
  return [...listOf(promptMessages(span)), ...answers, ...(answer === null ? [] : [answer])];
}

/** As JSON text. */
export function promptMessages(span: StoredSpan): string {
  const stored = textOf(span, "prompt_messages");
  if (stored !== "" || !isMessageLog(span)) return stored || "null";
  return JSON.stringify(messagesOf(textOf(span, "input"), "user") ?? null);
}

/** As JSON text. */
export function completionMessage(span: StoredSpan): string {
  const stored = textOf(span, "completion_message");
  if (stored !== "" || !isMessageLog(span)) return stored || "null";
  const [first] = listOf(textOf(span, "completion_messages"));
  return JSON.stringify(first ?? messagesOf(textOf(span, "output"), "assistant")?.[0] ?? null);
}

function listOf(json: string): unknown[] {
  const list = json === "" ? [] : parseKeepingDigits(json);
  return Array.isArray(list) ? (list as unknown[]) : [];
}

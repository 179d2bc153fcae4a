import type { Message } from "./message.ts";

/**
 * Messages with what another form of the same ones knows besides: ids, names and calls. The roles tell whether they are the
 * same; if they are not, the first form stands.
 */
export function completedBy(messages: readonly Message[], other: readonly Message[]): Message[] {
  const areSame = messages.length === other.length && messages.every(({ role }, index) => role === other[index]?.role);
  if (!areSame) return [...messages];
  return messages.map((message, index) => {
    const { content, ...more } = other[index] ?? message;
    // Some instrumentations encode what was said once more.
    const isQuoted = typeof content === "string" && message.content === JSON.stringify(content);
    const isOpen = message.content === "" || message.content === null;
    return { ...more, ...message, ...((isQuoted || (isOpen && content !== "")) && { content }) };
  });
}

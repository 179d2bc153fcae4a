import type { Message } from "./message.ts";

/**
 * Completes messages with ids, names and calls from another form of the same messages. They count as the same if their
 * roles are equal; otherwise the first form is returned unchanged.
 */
export function completedBy(messages: readonly Message[], other: readonly Message[]): Message[] {
  const areSame = messages.length === other.length && messages.every(({ role }, index) => role === other[index]?.role);
  if (!areSame) return [...messages];
  return messages.map((message, index) => {
    const { content, ...more } = other[index] ?? message;
    // Some instrumentations encode the content a second time.
    const isQuoted = typeof content === "string" && message.content === JSON.stringify(content);
    const isOpen = message.content === "" || message.content === null;
    return { ...more, ...message, ...((isQuoted || (isOpen && content !== "")) && { content }) };
  });
}

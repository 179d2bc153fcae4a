import type { AssistantTurn, Call } from "./conversation.ts";
import type { TextPart } from "./parts.ts";
import { placeOf, signedThinking } from "./thinking.ts";

/** One piece of an assistant's turn. */
export type ContentItem =
  | { kind: "thinking"; block: Record<string, unknown> }
  | { kind: "text"; part: TextPart }
  | { kind: "call"; call: Call };

/**
 * Returns thinking, text and calls of a turn in their original order. Thinking with unknown position comes first, calls
 * come last.
 * @param withThinking whether earlier thinking may be sent: only models that think accept it
 */
export function contentInOrder({ texts, calls, thinkingBlocks }: AssistantTurn, withThinking: boolean): ContentItem[] {
  const items: ContentItem[] = [];
  const rest = [...texts];
  let textItem = 0;
  let callItems = 0;
  const addText = (until: number): void => {
    for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
      const room = until - textItem;
      if (room <= 0) return void rest.unshift(part);
      const { text } = part;
      textItem += Math.min(room, text.length);
      // A cache marker belongs to the end of the text that it marks.
      if (text.length <= room) items.push({ kind: "text", part });
      else {
        if (text.slice(0, room).trim() !== "")
          items.push({ kind: "text", part: { type: "text", text: text.slice(0, room) } });
        if (text.slice(room).trim() !== "") rest.unshift({ ...part, text: text.slice(room) });
        return;
      }
    }
  };
  const addCalls = (until: number): void => {
    for (const call of calls.slice(callItems, until)) items.push({ kind: "call", call });
    callItems = Math.max(callItems, Math.min(until, calls.length));
  };
  for (const block of withThinking ? thinkingBlocks : []) {
    const [signed] = signedThinking([block]);
    if (signed === undefined) continue;
    const place = placeOf(block);
    addText(place.text);
    addCalls(place.calls);
    items.push({ kind: "thinking", block: signed });
  }
  addText(Number.POSITIVE_INFINITY);
  addCalls(calls.length);
  return items;
}

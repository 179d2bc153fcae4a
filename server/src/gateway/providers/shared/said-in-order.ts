import type { AssistantTurn, Call } from "./conversation.ts";
import type { TextPart } from "./parts.ts";
import { placeOf, signedThinking } from "./thinking.ts";

/** One piece of an assistant's turn. */
export type Said =
  | { kind: "thinking"; block: Record<string, unknown> }
  | { kind: "text"; part: TextPart }
  | { kind: "call"; call: Call };

/**
 * Returns thinking, text and calls of a turn in their original order. Thinking with unknown position comes first, calls
 * come last.
 * @param withThinking whether earlier thinking may be sent: only models that think accept it
 */
export function saidInOrder({ texts, calls, thinkingBlocks }: AssistantTurn, withThinking: boolean): Said[] {
  const said: Said[] = [];
  const rest = [...texts];
  let textSaid = 0;
  let callsSaid = 0;
  const sayText = (until: number): void => {
    for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
      const room = until - textSaid;
      if (room <= 0) return void rest.unshift(part);
      const { text } = part;
      textSaid += Math.min(room, text.length);
      // A cache marker belongs to the end of the text that it marks.
      if (text.length <= room) said.push({ kind: "text", part });
      else {
        if (text.slice(0, room).trim() !== "")
          said.push({ kind: "text", part: { type: "text", text: text.slice(0, room) } });
        if (text.slice(room).trim() !== "") rest.unshift({ ...part, text: text.slice(room) });
        return;
      }
    }
  };
  const sayCalls = (until: number): void => {
    for (const call of calls.slice(callsSaid, until)) said.push({ kind: "call", call });
    callsSaid = Math.max(callsSaid, Math.min(until, calls.length));
  };
  for (const block of withThinking ? thinkingBlocks : []) {
    const [signed] = signedThinking([block]);
    if (signed === undefined) continue;
    const place = placeOf(block);
    sayText(place.text);
    sayCalls(place.calls);
    said.push({ kind: "thinking", block: signed });
  }
  sayText(Number.POSITIVE_INFINITY);
  sayCalls(calls.length);
  return said;
}

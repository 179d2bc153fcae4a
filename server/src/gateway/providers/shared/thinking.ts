import { isObject } from "../../../lib/json.ts";

/**
 * Of `thinking_blocks`, those that a Claude takes back: whole, and signed. They have Anthropic's form on every provider, so
 * that a conversation can go on with another.
 */
export function signedThinking(blocks: readonly unknown[]): Array<Record<string, unknown>> {
  return blocks.flatMap((block): Array<Record<string, unknown>> => {
    if (!isObject(block)) return [];
    const { type, thinking, signature, data } = block;
    if (type === "thinking" && typeof thinking === "string" && typeof signature === "string" && signature !== "") {
      return [{ type, thinking, signature }];
    }
    return type === "redacted_thinking" && typeof data === "string" ? [{ type, data }] : [];
  });
}

/** How much of an answer came before a block of thinking: characters of its text, and calls. */
export type Place = { text: number; calls: number };

/**
 * A block as it is told. One that the model thought in the middle of its answer says where, in `after`, as a chat completion has its text
 * and its calls apart from it; the answer is put together again when it comes back.
 */
export function placedThinking(block: Record<string, unknown>, { text, calls }: Place): Record<string, unknown> {
  return text === 0 && calls === 0 ? block : { ...block, after: { text, calls } };
}

/** Where a block that came back was thought. */
export function placeOf(block: unknown): Place {
  const after = isObject(block) ? block["after"] : undefined;
  const { text, calls } = isObject(after) ? after : {};
  return { text: countOf(text), calls: countOf(calls) };
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

import { isObject } from "../../../lib/json.ts";

/**
 * The `thinking_blocks` that Claude accepts back: complete and signed. They have Anthropic's form for every provider,
 * so that a conversation can continue with another one.
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

/** The position of a thinking block in a response: the characters of text, and the calls, before it. */
export type Place = { text: number; calls: number };

/**
 * The block as returned to the client. A block in the middle of the response has its position in `after`, because a
 * chat completion separates text and calls from thinking; the order is restored when it is sent back.
 */
export function placedThinking(block: Record<string, unknown>, { text, calls }: Place): Record<string, unknown> {
  return text === 0 && calls === 0 ? block : { ...block, after: { text, calls } };
}

/** The position of a block that a client sent back. */
export function placeOf(block: unknown): Place {
  const after = isObject(block) ? block["after"] : undefined;
  const { text, calls } = isObject(after) ? after : {};
  return { text: countOf(text), calls: countOf(calls) };
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

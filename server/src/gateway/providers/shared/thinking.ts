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

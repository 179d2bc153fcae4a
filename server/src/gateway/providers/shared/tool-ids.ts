import { createHash } from "node:crypto";

/**
 * A tool call id that Anthropic and Bedrock accept: at most 64 letters, digits, `_` and `-`. Ids of other providers
 * occur when a conversation changes models; equal ids stay equal.
 */
export function portableToolId(id: string): string {
  if (/^[\w-]{1,64}$/.test(id)) return id;
  return `call_${createHash("sha256").update(id).digest("base64url").slice(0, 32)}`;
}

import { createHash } from "node:crypto";

/**
 * An id of a tool call that Anthropic and Bedrock take: letters, digits, `_` and `-`, at most 64 of them. Ids of other
 * providers come in when a conversation changes models; the same id always becomes the same one.
 */
export function portableToolId(id: string): string {
  if (/^[\w-]{1,64}$/.test(id)) return id;
  return `call_${createHash("sha256").update(id).digest("base64url").slice(0, 32)}`;
}

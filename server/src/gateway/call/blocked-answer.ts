import { isObject } from "../../lib/json.ts";
import type { ChatDigest } from "../chat/chat-digest.ts";
import type { UpstreamProblem } from "../providers/provider.ts";

/** Members of a message that a caller could use. A refusal or reasoning alone is not a usable answer. */
const contentMembers = ["content", "tool_calls", "function_call", "images", "audio"] as const;

/**
 * The problem of a response that a provider's content filter withheld completely: every choice ended with
 * `content_filter` and none has content. Another model may have another filter.
 * @returns undefined for every other response
 */
export function blockOf(completion: Record<string, unknown>): UpstreamProblem | undefined {
  const { choices, usage } = completion;
  if (!Array.isArray(choices) || choices.length === 0) return undefined;
  const all = choices as unknown[];
  if (!all.every((choice) => isObject(choice) && choice["finish_reason"] === "content_filter" && hasNoContent(choice)))
    return undefined;
  const [first] = all.map((choice) => (isObject(choice) && isObject(choice["message"]) ? choice["message"] : {}));
  return blockProblem(first?.["refusal"], isObject(usage) ? usage : undefined);
}

/** @param refusal the text that replaces the answer */
export function blockProblem(refusal: unknown, usage: Record<string, unknown> | undefined): UpstreamProblem {
  return {
    kind: "request",
    status: 200,
    message: typeof refusal === "string" && refusal !== "" ? refusal : "A content filter withheld the response.",
    code: "content_filter",
    ...(usage && { usage }),
  };
}

/** The same for what a stream has sent so far. */
export function blockOfStream(digest: ChatDigest): UpstreamProblem | undefined {
  const finishes = digest.finishReasons();
  // Runs for every stream that may fall back to another model: build messages only if every choice was filtered.
  if (!finishes.every((finish) => finish === "content_filter")) return undefined;
  const messages = digest.messages();
  const choices = finishes.map((finish_reason, i) => ({ finish_reason, message: messages[i] }));
  return blockOf({ choices, usage: digest.usage() });
}

function hasNoContent({ message }: Record<string, unknown>): boolean {
  return !isObject(message) || contentMembers.every((member) => isEmpty(message[member]));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

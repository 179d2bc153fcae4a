import { isObject } from "../../lib/json.ts";
import type { ChatDigest } from "../chat/chat-digest.ts";
import type { UpstreamProblem } from "../providers/provider.ts";

/** Members of a message that a caller could use. A refusal only says that there is nothing, and reasoning is no answer. */
const saying = ["content", "tool_calls", "function_call", "images", "audio"] as const;

/**
 * The problem of an answer that a filter of the provider held back as a whole: it ended every choice, and none says anything. Another
 * model may have another filter.
 * @returns undefined for every other answer
 */
export function blockOf(completion: Record<string, unknown>): UpstreamProblem | undefined {
  const { choices, usage } = completion;
  if (!Array.isArray(choices) || choices.length === 0) return undefined;
  const all = choices as unknown[];
  if (!all.every((choice) => isObject(choice) && choice["finish_reason"] === "content_filter" && isSilent(choice)))
    return undefined;
  const [first] = all.map((choice) => (isObject(choice) && isObject(choice["message"]) ? choice["message"] : {}));
  return blockProblem(first?.["refusal"], isObject(usage) ? usage : undefined);
}

/** @param refusal what was said in place of the answer */
export function blockProblem(refusal: unknown, usage: Record<string, unknown> | undefined): UpstreamProblem {
  return {
    kind: "request",
    status: 200,
    message: typeof refusal === "string" && refusal !== "" ? refusal : "A filter of the provider held the answer back.",
    code: "content_filter",
    ...(usage && { usage }),
  };
}

/** The same of what a stream has said so far. */
export function blockOfStream(digest: ChatDigest): UpstreamProblem | undefined {
  const finishes = digest.finishReasons();
  // Asked with every stream that may go on elsewhere: messages are only put together where it matters.
  if (!finishes.every((finish) => finish === "content_filter")) return undefined;
  const messages = digest.messages();
  const choices = finishes.map((finish_reason, i) => ({ finish_reason, message: messages[i] }));
  return blockOf({ choices, usage: digest.usage() });
}

function isSilent({ message }: Record<string, unknown>): boolean {
  return !isObject(message) || saying.every((member) => isEmpty(message[member]));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

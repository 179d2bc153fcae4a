import { isObject } from "../../lib/json.ts";

/**
 * A whole completion as the chunks of a stream: per choice one with the message and one with the finish reason, then
 * the usage.
 */
export function completionChunks(completion: Record<string, unknown>): Array<Record<string, unknown>> {
  const { id, choices: listed, usage, ...rest } = completion;
  const head = { id, ...rest, object: "chat.completion.chunk" };
  const choices = Array.isArray(listed) ? (listed as unknown[]).filter(isObject) : [];
  return [
    ...choices.flatMap(({ index, message, finish_reason, ...rest }) => [
      { ...head, choices: [{ index, delta: deltaOf(message), finish_reason: null, ...rest }] },
      { ...head, choices: [{ index, delta: {}, finish_reason }] },
    ]),
    ...(isObject(usage) ? [{ ...head, choices: [], usage }] : []),
  ];
}

/** Each tool call of a delta has an index. */
function deltaOf(message: unknown): Record<string, unknown> {
  if (!isObject(message)) return {};
  const calls = message["tool_calls"];
  if (!Array.isArray(calls)) return message;
  const tool_calls = (calls as unknown[]).map((call, index) => (isObject(call) ? { index, ...call } : call));
  return { ...message, tool_calls };
}

import { isObject } from "../../../lib/json.ts";

/**
 * Replaces OpenAI's legacy functions: a `function_call` of the assistant becomes a tool call, and the message of role
 * `function` after it its result. Other messages, and all positions in the list, stay unchanged.
 */
export function withToolCalls(messages: readonly unknown[]): readonly unknown[] {
  if (!messages.some(isOfFunctions)) return messages;
  let lastId = "";
  return messages.map((message, index) => {
    if (!isOfFunctions(message)) return message;
    const { function_call: called, name, ...rest } = message;
    if (message["role"] === "function") {
      return lastId === "" ? message : { ...rest, role: "tool", tool_call_id: lastId };
    }
    lastId = `call_function_${index}`;
    const content = rest["content"] ?? null;
    return {
      ...rest,
      ...(name !== undefined && { name }),
      content,
      tool_calls: [{ id: lastId, type: "function", function: called }],
    };
  });
}

function isOfFunctions(message: unknown): message is Record<string, unknown> {
  return isObject(message) && (message["role"] === "function" || isObject(message["function_call"]));
}

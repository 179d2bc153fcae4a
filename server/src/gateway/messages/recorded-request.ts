import { readRequest } from "../../messages/request.ts";
import { isObject } from "../../lib/json.ts";

/** A request of the Messages API as it is recorded: its members by the names of OpenAI's chat. */
export function recordedRequest(members: Record<string, unknown>): Record<string, unknown> {
  const { stop_sequences: stop, tool_choice: choice } = members;
  const { prompt, tools } = readRequest(members) ?? {};
  const { max_tokens, temperature, top_p } = members;
  return {
    max_tokens,
    temperature,
    top_p,
    ...(prompt !== undefined && { messages: prompt }),
    ...(tools !== undefined && { tools }),
    ...(isObject(choice) && { tool_choice: choiceOf(choice) }),
    ...(stop !== undefined && { stop }),
  };
}

function choiceOf({ type, name }: Record<string, unknown>): unknown {
  if (type === "any") return "required";
  return type === "tool" ? { type: "function", function: { name } } : type;
}

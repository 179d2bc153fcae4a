import { readRequest } from "../../messages/request.ts";
import { isObject } from "../../lib/json.ts";

/** The recorded form of a Messages API request: its members under OpenAI's chat names. */
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

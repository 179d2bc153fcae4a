import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention } from "../convention.ts";
import { toMessages, type Message } from "../../../messages/message.ts";
import { toolsOf } from "../../../messages/tool-calls.ts";

/** Personal data moved from `lk.` to `lk.pii.` in 2026; both are in use. */
const personal = (name: string): [string, string] => [`lk.pii.${name}`, `lk.${name}`];

/** LiveKit agents. */
export const livekit: Convention = {
  name: "livekit",
  applies: ({ bag, scopeName }) => bag.hasFamily("lk") || scopeName.startsWith("livekit"),
  fields: {
    customer_identifier: personal("participant_identity"),
    thread_identifier: ["lk.job_id"],
    session_identifier: personal("room_name"),
    span_name: ["lk.function_tool.name"],
  },
  content({ bag }) {
    const text = bag.takeText(...personal("response.text"));
    const calls = bag.takeTree(...personal("response.function_calls"));
    return {
      prompt: promptOf(bag),
      completions:
        text === undefined && calls === undefined
          ? undefined
          : toMessages({ role: "assistant", content: text, tool_calls: calls }, "assistant"),
      tools: toolsOf(bag.takeTree(...personal("function_tools"))),
      input: bag.takeAny(
        ...personal("function_tool.arguments"),
        ...personal("user_input"),
        ...personal("input_text"),
        ...personal("user_transcript"),
      ),
      output: bag.takeAny(...personal("function_tool.output")),
    };
  },
};

/** `{"items": [{"type": "message", "role": …, "content": […]}]}` */
function promptOf(bag: AttributeBag): Message[] {
  const context = bag.takeTree(...personal("chat_ctx"));
  return toMessages(isObject(context) ? context["items"] : context, "user");
}

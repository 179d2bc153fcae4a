import { isObject } from "../../../lib/json.ts";
import type { Convention, SpanView } from "../convention.ts";
import { toolsOf } from "../../../messages/tool-calls.ts";
import { containsMessages, ofChoice, toMessages, type Message } from "../../../messages/message.ts";

/** Bare names that people choose by hand, and what no more specific convention took. */
export const generic: Convention = {
  name: "generic",
  applies: () => true,
  fields: {
    customer_identifier: ["gen_ai.user", "gen_ai.user.id", "gen_ai.request.user", "enduser.id", "user_id"],
    thread_identifier: ["thread_id", "conversation_id", "conversation.id"],
  },
  derive: ({ bag, span }) => ({
    model: hasModelEvidence({ bag }) ? bag.takeText("model") : undefined,
    span_name: span.name,
  }),
  content({ bag, operation }) {
    const input = bag.takeAny("input", "prompt");
    const output = bag.takeAny("output", "completion");
    const prompt = messagesIn(bag.parsed(input), "messages", "user");
    // The output for messages is the response, even if it is a text.
    const isAnswer = operation === "chat" && prompt.length > 0 && typeof bag.parsed(output) === "string";
    const completions = isAnswer
      ? toMessages(output, "assistant")
      : messagesIn(bag.parsed(output), "choices", "assistant");
    return {
      prompt,
      completions,
      tools: operation === "chat" ? toolsOf(bag.takeTree("tools")) : undefined,
      input: prompt.length > 0 ? undefined : input,
      output: completions.length > 0 ? undefined : output,
    };
  },
};

function hasModelEvidence({ bag }: Pick<SpanView, "bag">): boolean {
  return bag.hasFamily("gen_ai", "llm", "prompt", "messages");
}

function messagesIn(value: unknown, list: string, role: string): Message[] {
  const given = isObject(value) && list in value ? value[list] : value;
  if (!Array.isArray(given)) return containsMessages(given) ? toMessages(given, role) : [];
  const items = (given as unknown[]).map((item) => (isObject(item) ? item : {}));
  const messages = items.map((item) => item["message"] ?? item);
  if (!containsMessages(messages)) return [];
  return messages.flatMap((message, at) => ofChoice(toMessages(message, role), items[at]?.["index"]));
}

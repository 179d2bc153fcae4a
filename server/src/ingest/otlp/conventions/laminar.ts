import { isObject } from "../../../lib/json.ts";
import type { Convention } from "../convention.ts";
import { containsMessages, toMessages } from "../../../messages/message.ts";

const property = "lmnr.association.properties.";

/** Laminar. Its model calls also have the GenAI conventions. */
export const laminar: Convention = {
  name: "laminar",
  applies: ({ bag }) => bag.hasFamily("lmnr"),
  fields: {
    customer_identifier: [`${property}user_id`],
    thread_identifier: [`${property}session_id`],
  },
  derive({ bag }) {
    const path = bag.takeAny("lmnr.span.path");
    const names = Array.isArray(path) ? path.filter((name) => typeof name === "string") : undefined;
    return { span_path: names?.join(".") ?? path };
  },
  metadataPrefixes: [`${property}metadata.`],
  content({ bag }) {
    const input = bag.takeTree("lmnr.span.input");
    const output = bag.takeTree("lmnr.span.output");
    const messages = isObject(input) ? input["messages"] : input;
    if (bag.peekText("lmnr.span.type")?.toLowerCase() !== "llm") return { input, output };
    return {
      prompt: containsMessages(messages) ? toMessages(messages, "user") : undefined,
      input: containsMessages(messages) ? undefined : input,
      completions: containsMessages(output) ? toMessages(output, "assistant") : undefined,
      output: containsMessages(output) ? undefined : output,
    };
  },
};

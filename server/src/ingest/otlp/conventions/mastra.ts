import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent } from "../convention.ts";
import { containsMessages, toMessages } from "../../../messages/message.ts";

/** Mastra: `mastra.<type of span>.input` and `.output` beside the GenAI conventions. */
export const mastra: Convention = {
  name: "mastra",
  applies: ({ bag }) => bag.hasFamily("mastra"),
  fields: {
    customer_identifier: ["mastra.metadata.userId", "mastra.metadata.resourceId"],
    thread_identifier: ["mastra.metadata.threadId", "mastra.metadata.sessionId"],
  },
  derive: ({ bag }) => ({ model: modelOf(bag) }),
  metadataPrefixes: ["mastra.metadata."],
  content({ bag }): SpanContent {
    const type = bag.peekText("mastra.span.type") ?? "";
    const input = bag.takeTree(`mastra.${type}.input`);
    const output = bag.takeTree(`mastra.${type}.output`);
    if (!type.startsWith("model") && type !== "agent_run") return { input, output };
    const messages = isObject(input) ? input["messages"] : input;
    const text = isObject(output) && typeof output["text"] === "string" ? output["text"] : undefined;
    const isMessage = containsMessages(messages) || areTexts(messages);
    return {
      prompt: isMessage ? toMessages(messages, "user") : undefined,
      input: isMessage ? undefined : input,
      completions:
        text === undefined
          ? undefined
          : toMessages({ role: "assistant", content: text, tool_calls: callsOf(output) }, "assistant"),
      output: text === undefined ? output : undefined,
    };
  },
};

/** An agent's input may be one plain text, or several. */
function areTexts(given: unknown): boolean {
  const texts = Array.isArray(given) ? (given as unknown[]) : [given];
  return texts.length > 0 && texts.every((text) => typeof text === "string" && text !== "");
}

function modelOf(bag: AttributeBag): unknown {
  const model = bag.peekTree("mastra.metadata.modelMetadata");
  return isObject(model) ? model["modelId"] : undefined;
}

function callsOf(output: unknown): unknown {
  return isObject(output) ? output["toolCalls"] : undefined;
}

import type { Convention } from "../convention.ts";
import { joinedChunks } from "../../../messages/answers.ts";
import { toMessages } from "../../../messages/message.ts";

/** The Gemini command line: GenAI attributes, but streamed output is one message per chunk. */
export const geminiCli: Convention = {
  name: "gemini-cli",
  applies: ({ scopeName, bag }) => /^gemini[-_]cli/.test(scopeName) && bag.peek("gen_ai.operation.name") === "llm_call",
  content({ bag }) {
    const chunks = toMessages(bag.takeTree("gen_ai.output.messages"), "assistant");
    return { completions: joinedChunks(chunks) };
  },
};

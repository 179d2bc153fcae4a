import { readFileSync } from "node:fs";

type Message = { content: string | null; tool_calls?: unknown };

/** Messages of real conversations, without system prompts, from the example data set. */
export function realTexts(): string[] {
  return readConversations()
    .flatMap(({ messages }) => messages.slice(1))
    .map(({ content, tool_calls }) => content ?? JSON.stringify(tool_calls))
    .filter((text) => text !== "");
}

function readConversations(): Array<{ messages: Message[] }> {
  const file = new URL("../../examples/airline-agent/airline-agent.jsonl", import.meta.url);
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as { messages: Message[] });
}

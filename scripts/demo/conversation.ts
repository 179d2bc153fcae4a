import { readFileSync } from "node:fs";

/** One line of examples/airline-agent/airline-agent.jsonl. */
export type Conversation = { task_id: number; trial: number; reward: number; messages: Message[] };

export type Message = {
  role: "system" | "user" | "assistant" | "tool";
  content: string | null;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  name?: string;
};

export type ToolCall = { id: string; type: "function"; function: { name: string; arguments: string } };

export function readConversations(path: string | URL): Conversation[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => asConversation(JSON.parse(line)));
}

/** Safe because the file is part of the project, and a test reads all of it. */
function asConversation(value: unknown): Conversation {
  return value as Conversation;
}

import type { Row } from "./test-client.ts";

/** Bodies of chats and chunks of streams in OpenAI's format. */

export const question = { role: "user", content: "Say hello." };

export function completion(members: Row = {}): Row {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "gpt-4o-2024-08-06",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
    ...members,
  };
}

export function chunk(delta: Row, finish: string | null = null, members: Row = {}): string {
  return event({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "gpt-4o-2024-08-06",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...members,
  });
}

export function usageChunk(usage: unknown = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }): string {
  return chunk({}, null, { choices: [], usage });
}

export function event(value: unknown): string {
  return `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
}

export const done = event("[DONE]");

/** A stream with the text "Hello." */
export const helloStream = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "Hel" }),
  chunk({ content: "lo." }),
  chunk({}, "stop"),
];

/** The values of a stream's `data` lines; the last one is `"[DONE]"` if it ended normally. */
export function eventsOf(text: string): unknown[] {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => (block === "data: [DONE]" ? "[DONE]" : (JSON.parse(block.slice(6)) as unknown)));
}

/** The joined text of a stream. */
export function textOf(events: readonly unknown[]): string {
  return events
    .flatMap((event) => (event as { choices?: Array<{ delta?: { content?: string | null } }> }).choices ?? [])
    .map(({ delta }) => delta?.content ?? "")
    .join("");
}

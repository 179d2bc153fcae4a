import { isObject } from "../../../lib/json.ts";
import type { CallFacts, ChatChunk, ChatCompletion, ChatRequest, ChatUsage } from "../provider.ts";
import { createChunkMaker } from "../shared/chunks.ts";

/**
 * The model `spanway/echo`, which repeats the last user message: the first call works on a new installation, without
 * any provider. Words count as tokens.
 */
export function echo(chat: ChatRequest, call: CallFacts): ChatCompletion {
  const content = lastUserText(chat.messages);
  return {
    id: call.id,
    object: "chat.completion",
    created: call.created,
    model: call.model,
    choices: [{ index: 0, message: { role: "assistant", content, refusal: null }, finish_reason: "stop" }],
    usage: usageOf(chat.messages, content),
  };
}

/** The same as a stream: one chunk per word. */
export function echoChunks(chat: ChatRequest, call: CallFacts): ChatChunk[] {
  const content = lastUserText(chat.messages);
  const maker = createChunkMaker(call.id, call);
  return [
    maker.delta({ content: "" }),
    ...(content.match(/\S+\s*|\s+/g) ?? []).map((word) => maker.delta({ content: word })),
    maker.finish("stop"),
    maker.usage(usageOf(chat.messages, content)),
  ];
}

function usageOf(messages: unknown[], content: string): ChatUsage {
  const prompt_tokens = messages.reduce<number>((sum, message) => sum + countWords(textOf(message)), 0);
  const completion_tokens = countWords(content);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function lastUserText(messages: unknown[]): string {
  const lastUser = messages.findLast((message) => isObject(message) && message["role"] === "user");
  return textOf(lastUser);
}

function textOf(message: unknown): string {
  if (!isObject(message)) return "";
  const content = message["content"];
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as unknown[])
    .map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .filter((text) => text !== "")
    .join("\n");
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

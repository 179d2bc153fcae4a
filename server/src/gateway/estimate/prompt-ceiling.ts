import { isObject, isRawNumber } from "../../lib/json.ts";
import { mediaCeiling } from "./media-ceiling.ts";

/** `tokens` are those of `audioTokens` apart. `writesCache`: the prompt may be written to a cache, which costs more. */
export type PromptCeiling = { tokens: number; audioTokens: number; writesCache: boolean };

/** What a conversation, a prompt or a file holds that the provider keeps, and nobody knows here. */
const keptTokens = 16_384;
const kept = new Set(["previous_response_id", "conversation", "prompt", "cached_content", "cachedContent"]);

/** What a provider says to the model of tools and formats, and what a tool of its own, such as a search, brings in. */
const explainedTokens = 600;
const explained = new Set(["tools", "functions", "response_format"]);
const nativeToolTokens = 8_192;

/**
 * The most tokens that a request makes the model read: a token a byte of all that is sent, whatever member it stands in, which
 * no tokenizer exceeds; media by their kind; a floor for what the provider keeps.
 */
export function promptCeiling(asked: Record<string, unknown>, model: string): PromptCeiling {
  const sum: PromptCeiling = { tokens: 0, audioTokens: 0, writesCache: false };
  for (const [name, value] of Object.entries(asked)) {
    if (value === null || value === undefined) continue;
    if (kept.has(name) && !(name === "prompt" && typeof value === "string")) sum.tokens += keptTokens;
    if (explained.has(name)) sum.tokens += explainedTokens;
    if (name === "tools" && Array.isArray(value)) sum.tokens += nativeToolTokens * value.filter(isNative).length;
    const isConversation = (name === "messages" || name === "input") && Array.isArray(value);
    if (!isConversation) addText(value, sum);
    else for (const message of value as unknown[]) addMessage(message, model, sum);
  }
  return sum;
}

function isNative(tool: unknown): boolean {
  return isObject(tool) && tool["type"] !== "function";
}

/** A message; of embeddings a text, a token or a list of tokens. */
function addMessage(message: unknown, model: string, sum: PromptCeiling): void {
  if (typeof message === "number") sum.tokens += 1;
  else if (Array.isArray(message)) for (const item of message as unknown[]) addMessage(item, model, sum);
  else if (!isObject(message)) addText(message, sum);
  else addMembers(message, model, sum);
}

/** Members that are lists of parts. `images`: what the assistant drew. */
const partMembers = new Set(["content", "output", "images"]);

function addMembers(message: Record<string, unknown>, model: string, sum: PromptCeiling): void {
  for (const [name, value] of Object.entries(message)) {
    sum.tokens += name.length;
    if (!Array.isArray(value) || !partMembers.has(name)) addText(value, sum);
    else for (const part of value as unknown[]) addPart(part, model, sum);
  }
}

function addPart(part: unknown, model: string, sum: PromptCeiling): void {
  addText(part, sum);
  addMedia(part, model, sum);
}

function addMedia(part: unknown, model: string, sum: PromptCeiling): void {
  if (!isObject(part)) return;
  const media = mediaCeiling(part, model);
  if (media !== undefined) {
    // The media itself was counted with the text.
    sum.tokens += media.tokens - Buffer.byteLength(media.payload);
    sum.audioTokens += media.audioTokens;
  }
  // Results of tools hold parts.
  const { content } = part;
  if (Array.isArray(content)) for (const inner of content as unknown[]) addMedia(inner, model, sum);
}

function addText(value: unknown, sum: PromptCeiling): void {
  if (typeof value === "string") sum.tokens += Buffer.byteLength(value);
  else if (isRawNumber(value)) sum.tokens += value.rawJSON.length + 1;
  else if (Array.isArray(value)) for (const item of value as unknown[]) addText(item, sum);
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (name === "cache_control") sum.writesCache = true;
      // Its quotes, its colon and its comma.
      sum.tokens += Buffer.byteLength(name) + 4;
      addText(member, sum);
    }
  } else sum.tokens += String(value).length + 1;
}

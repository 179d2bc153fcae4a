import { isObject, parseJson } from "../../../lib/json.ts";
import { BadReply, type CallFacts, type ChatCompletion, type ChatMessage, type ChatUsage } from "../provider.ts";
import { blockOf, createCallIds, readPart, refusalOf, toFinishReason, toLogprobs } from "./candidate.ts";
import { citationsOf, searchesOf } from "./grounding.ts";
import { toUsage } from "./usage.ts";

/** Converts a complete response of generateContent to a chat completion. */
export function fromGemini(bytes: Buffer, call: CallFacts): ChatCompletion {
  const parsed = parseJson(bytes);
  const reply = parsed.ok ? parsed.value : undefined;
  if (!isObject(reply)) throw new BadReply("Gemini's response has no candidates");
  const usage = toUsage(reply["usageMetadata"], searchesIn(reply));
  return {
    id: typeof reply["responseId"] === "string" ? reply["responseId"] : call.id,
    object: "chat.completion",
    created: call.created,
    model: call.model,
    choices: choicesOf(reply, call, usage),
    ...(usage ? { usage } : {}),
  };
}

function candidatesOf(reply: Record<string, unknown>): Array<Record<string, unknown>> {
  return Array.isArray(reply["candidates"]) ? (reply["candidates"] as unknown[]).filter(isObject) : [];
}

function searchesIn(reply: Record<string, unknown>): number {
  return candidatesOf(reply).reduce((sum, { groundingMetadata }) => sum + searchesOf(groundingMetadata), 0);
}

function choicesOf(
  reply: Record<string, unknown>,
  call: CallFacts,
  usage: ChatUsage | undefined,
): ChatCompletion["choices"] {
  const candidates = candidatesOf(reply);
  const block = blockOf(reply);
  if (candidates.length === 0 && block !== undefined) {
    const message = { role: "assistant" as const, content: "", refusal: block };
    return [{ index: 0, message, finish_reason: "content_filter" }];
  }
  if (candidates.length === 0) throw new BadReply("Gemini's response has no candidates", usage);
  const idOf = createCallIds(call.id);
  return candidates.map((candidate, i) => {
    const message = toMessage(candidate, idOf);
    const finish = toFinishReason(candidate["finishReason"], message.tool_calls !== undefined);
    if (finish === undefined) {
      throw new BadReply(`Gemini's model stopped with ${String(candidate["finishReason"])}`, usage);
    }
    const logprobs = toLogprobs(candidate["logprobsResult"]);
    const index = typeof candidate["index"] === "number" ? candidate["index"] : i;
    return { index, message, finish_reason: finish, ...(logprobs ? { logprobs } : {}) };
  });
}

function toMessage(candidate: Record<string, unknown>, idOf: (given: unknown) => string): ChatMessage {
  const { content } = candidate;
  const parts = isObject(content) && Array.isArray(content["parts"]) ? (content["parts"] as unknown[]) : [];
  const items = parts.flatMap((part) => readPart(part, idOf) ?? []);
  const text = items.flatMap((one) => (one.type === "text" ? [one.text] : [])).join("");
  const thoughts = items.flatMap((one) => (one.type === "thought" ? [one.text] : [])).join("");
  const calls = items.flatMap((one) => (one.type === "call" ? [one.call] : []));
  const images = items.flatMap((one) => (one.type === "image" ? [one.image] : []));
  const refusal = refusalOf(candidate);
  const annotations = citationsOf(candidate["groundingMetadata"], text);
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(refusal === undefined ? {} : { refusal }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(images.length > 0 ? { images } : {}),
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(annotations.length > 0 ? { annotations } : {}),
  };
}

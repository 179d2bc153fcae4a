import { lookUp } from "../../../lib/look-up.ts";
import { isObject, parseJson } from "../../../lib/json.ts";
import {
  BadReply,
  type CallFacts,
  type ChatCompletion,
  type ChatMessage,
  type FinishReason,
  type UrlCitation,
} from "../provider.ts";
import { createCitationGatherer } from "../shared/citations.ts";
import { jsonToolName } from "../shared/response-format.ts";
import { placedThinking, signedThinking } from "../shared/thinking.ts";
import { toUsage } from "./usage.ts";

/** Converts a complete response of the Messages API to a chat completion. */
export function fromAnthropic(bytes: Buffer, call: CallFacts): ChatCompletion {
  const parsed = parseJson(bytes);
  const reply = parsed.ok ? parsed.value : undefined;
  if (!isObject(reply) || !Array.isArray(reply["content"])) throw new BadReply("Anthropic's reply is not a message");
  const message = toMessage(reply["content"] as unknown[]);
  const refusal = refusalOf(reply["stop_details"]);
  const usage = isObject(reply["usage"]) ? toUsage(reply["usage"]) : undefined;
  return {
    id: typeof reply["id"] === "string" ? reply["id"] : call.id,
    object: "chat.completion",
    created: call.created,
    model: call.model,
    choices: [
      {
        index: 0,
        message: refusal === undefined ? message : { ...message, refusal },
        finish_reason: toFinishReason(reply["stop_reason"], message.tool_calls !== undefined),
      },
    ],
    ...(usage ? { usage } : {}),
  };
}

/** Other kinds of blocks, such as those of Anthropic's server tools, have no counterpart in a chat completion. */
function toMessage(content: unknown[]): ChatMessage {
  const blocks = content.filter(isObject);
  const calls = blocks.filter(({ type }) => type === "tool_use");
  const answer = calls.find(({ name }) => name === jsonToolName);
  const texts = answer
    ? [JSON.stringify(answer["input"] ?? {})]
    : blocks.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  const toolCalls = calls
    .filter(({ name }) => name !== jsonToolName)
    .map((block) => ({
      id: String(block["id"]),
      type: "function" as const,
      function: { name: String(block["name"]), arguments: JSON.stringify(block["input"] ?? {}) },
    }));
  const reasoning = blocks.flatMap(({ type, thinking }) =>
    type === "thinking" && typeof thinking === "string" ? [thinking] : [],
  );
  const thinkingBlocks = answer ? signedThinking(blocks) : thinkingOf(blocks);
  const annotations = answer ? [] : annotationsOf(blocks);
  return {
    role: "assistant",
    content: texts.length > 0 ? texts.join("") : toolCalls.length > 0 ? null : "",
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(reasoning.join("") === "" ? {} : { reasoning_content: reasoning.join("") }),
    ...(thinkingBlocks.length > 0 ? { thinking_blocks: thinkingBlocks } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
  };
}

/** Signed thinking, each block with its position in the response. */
function thinkingOf(blocks: ReadonlyArray<Record<string, unknown>>): Array<Record<string, unknown>> {
  const place = { text: 0, calls: 0 };
  return blocks.flatMap((block) => {
    if (block["type"] === "text" && typeof block["text"] === "string") place.text += block["text"].length;
    else if (block["type"] === "tool_use") place.calls += 1;
    return signedThinking([block]).map((signed) => placedThinking(signed, place));
  });
}

function annotationsOf(blocks: ReadonlyArray<Record<string, unknown>>): UrlCitation[] {
  const gatherer = createCitationGatherer();
  return blocks.flatMap(({ type, text, citations }, index) => {
    if (type !== "text" || typeof text !== "string") return [];
    gatherer.open(index, citations);
    gatherer.addText(index, text);
    return gatherer.close(index);
  });
}

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

/** @param hasCalls whether there are calls of the caller's own tools; the tool of a JSON response does not count */
export function toFinishReason(reason: unknown, hasCalls: boolean): FinishReason {
  const known = typeof reason === "string" ? lookUp(reasons, reason) : undefined;
  return known ?? (hasCalls ? "tool_calls" : "stop");
}

export function refusalOf(details: unknown): string | undefined {
  const explanation = isObject(details) ? details["explanation"] : undefined;
  return typeof explanation === "string" && explanation !== "" ? explanation : undefined;
}

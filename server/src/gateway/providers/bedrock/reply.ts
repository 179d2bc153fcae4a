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

/** Converts a complete response of Converse to a chat completion. */
export function fromBedrock(bytes: Buffer, call: CallFacts): ChatCompletion {
  const parsed = parseJson(bytes);
  const reply = parsed.ok ? parsed.value : undefined;
  const output = isObject(reply) ? reply["output"] : undefined;
  const answer = isObject(output) ? output["message"] : undefined;
  if (!isObject(reply) || !isObject(answer) || !Array.isArray(answer["content"])) {
    throw new BadReply("Bedrock's reply is not a message");
  }
  const message = toMessage(answer["content"] as unknown[]);
  const finish = toFinishReason(reply["stopReason"], message.tool_calls !== undefined);
  const usage = toUsage(reply["usage"], reply["serviceTier"]);
  if (finish === undefined) throw new BadReply(`Bedrock's model answered with ${String(reply["stopReason"])}`, usage);
  return {
    id: call.id,
    object: "chat.completion",
    created: call.created,
    model: call.model,
    choices: [{ index: 0, message, finish_reason: finish }],
    ...(usage ? { usage } : {}),
  };
}

function toMessage(content: unknown[]): ChatMessage {
  const blocks = content.filter(isObject);
  const calls = blocks.flatMap(({ toolUse }) =>
    isObject(toolUse) && toolUse["type"] !== "server_tool_use" ? [toolUse] : [],
  );
  const answer = calls.find(({ name }) => name === jsonToolName);
  const texts = answer ? [JSON.stringify(answer["input"] ?? {})] : blocks.flatMap(textsOf);
  const toolCalls = calls
    .filter(({ name }) => name !== jsonToolName)
    .map(({ toolUseId, name, input }) => ({
      id: String(toolUseId),
      type: "function" as const,
      function: { name: String(name), arguments: JSON.stringify(input ?? {}) },
    }));
  const thinking = blocks.flatMap(({ reasoningContent }) =>
    isObject(reasoningContent) ? [toThinking(reasoningContent)] : [],
  );
  const reasoning = thinking.map((block) => (typeof block["thinking"] === "string" ? block["thinking"] : "")).join("");
  const signed = answer ? signedThinking(thinking) : thinkingOf(blocks);
  const annotations = answer ? [] : blocks.flatMap(annotator());
  return {
    role: "assistant",
    content: texts.length > 0 ? texts.join("") : toolCalls.length > 0 ? null : "",
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(signed.length > 0 ? { thinking_blocks: signed } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
  };
}

/** Signed thinking, each block with its position in the response. */
function thinkingOf(blocks: ReadonlyArray<Record<string, unknown>>): Array<Record<string, unknown>> {
  const place = { text: 0, calls: 0 };
  return blocks.flatMap((block) => {
    for (const text of textsOf(block)) place.text += text.length;
    const { toolUse, reasoningContent } = block;
    if (isObject(toolUse) && toolUse["type"] !== "server_tool_use") place.calls += 1;
    if (!isObject(reasoningContent)) return [];
    return signedThinking([toThinking(reasoningContent)]).map((signed) => placedThinking(signed, place));
  });
}

function textsOf(block: Record<string, unknown>): string[] {
  if (typeof block["text"] === "string") return [block["text"]];
  const cited = isObject(block["citationsContent"]) ? block["citationsContent"]["content"] : undefined;
  return Array.isArray(cited) ? cited.filter(isObject).flatMap(textsOf) : [];
}

function annotator(): (block: Record<string, unknown>, index: number) => UrlCitation[] {
  const gatherer = createCitationGatherer();
  return (block, index) => {
    const cited = isObject(block["citationsContent"]) ? block["citationsContent"]["citations"] : undefined;
    gatherer.open(index, Array.isArray(cited) ? cited.map(citedPage) : []);
    for (const text of textsOf(block)) gatherer.addText(index, text);
    return gatherer.close(index);
  };
}

/** Converts a citation of a web page to Anthropic's form; `undefined` for other citations. */
export function citedPage(citation: unknown): unknown {
  const location = isObject(citation) ? citation["location"] : undefined;
  const web = isObject(location) ? location["web"] : undefined;
  return isObject(citation) && isObject(web) ? { title: citation["title"], url: web["url"] } : undefined;
}

/** Converts a reasoning block to Anthropic's form, which `thinking_blocks` have for every provider. */
function toThinking({ reasoningText, redactedContent }: Record<string, unknown>): Record<string, unknown> {
  if (isObject(reasoningText)) {
    return { type: "thinking", thinking: reasoningText["text"], signature: reasoningText["signature"] };
  }
  return { type: "redacted_thinking", data: redactedContent };
}

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  content_filtered: "content_filter",
  guardrail_intervened: "content_filter",
};

/**
 * `undefined` if the model's output was malformed (`malformed_model_output`, `malformed_tool_use`): that is not a valid
 * response.
 * @param hasCalls whether there are calls of the caller's own tools; the tool of a JSON response does not count
 */
export function toFinishReason(reason: unknown, hasCalls: boolean): FinishReason | undefined {
  if (typeof reason !== "string" || reason.startsWith("malformed_")) return undefined;
  return lookUp(reasons, reason) ?? (hasCalls ? "tool_calls" : "stop");
}

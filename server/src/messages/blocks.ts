import { isObject } from "../lib/json.ts";
import { toolCallOf, type ToolCall } from "./tool-calls.ts";

/** The blocks of one message, by kind. */
export type Content = {
  /** Parts in OpenAI's format: `{type: "text", text}`, `{type: "image_url", image_url: {url}}` … */
  parts: unknown[];
  toolCalls: ToolCall[];
  /** Text, or parts if a result contains an image. */
  toolResults: Array<{ id: string | undefined; content: string | unknown[] }>;
  reasoning: string[];
  refusals: string[];
};

export function createContent(): Content {
  return { parts: [], toolCalls: [], toolResults: [], reasoning: [], refusals: [] };
}

type Block = Record<string, unknown>;
type ReadBlock = (block: Block, into: Content) => void;

const readText: ReadBlock = (block, into) => {
  const text = block["text"] ?? block["content"];
  if (typeof text === "string") into.parts.push({ type: "text", text });
};
const readReasoning: ReadBlock = (block, into) => {
  // In a reasoning item, either the content or the summary may be missing.
  const members = ["content", "text", "thinking", "reasoning", "summary"];
  const text = members.map((member) => plainText(block[member])).find((found) => found !== "");
  if (text !== undefined) into.reasoning.push(text);
};
const readCall: ReadBlock = (block, into) => {
  into.toolCalls.push(toolCallOf(block));
};
const resultMembers = ["response", "result", "output", "content", "server_tool_call_response"];
const readResult: ReadBlock = (block, into) => {
  const id = [
    block["id"],
    block["toolCallId"],
    block["tool_use_id"],
    block["toolUseId"],
    block["call_id"],
    block["ref"],
  ].find((value) => typeof value === "string");
  const given = resultMembers.map((member) => block[member]).find((value) => value !== undefined && value !== null);
  into.toolResults.push({ id, content: partsWithImage(given) ?? textOf(given) });
};
const readBlob: ReadBlock = (block, into) => {
  const data = block["content"] ?? block["data"];
  if (typeof data !== "string") return;
  const mimeType = block["mime_type"] ?? block["mediaType"] ?? block["media_type"];
  pushMedia(into, { modality: block["modality"], mimeType, data, transcript: block["transcript"] });
};
const readUri: ReadBlock = (block, into) => {
  const url = block["uri"] ?? block["url"];
  if (block["modality"] === "image") into.parts.push({ type: "image_url", image_url: { url } });
  else into.parts.push(block);
};
/** `image` is a URL, data, or an object with either: AI SDK, OpenInference, Anthropic. */
const readImage: ReadBlock = (block, into) => {
  const source = block["image_url"] ?? block["image"] ?? block["source"] ?? block["url"];
  const url = imageUrl(source, block["mediaType"] ?? block["mimeType"]);
  into.parts.push(url === undefined ? block : { type: "image_url", image_url: { url } });
};
const readFile: ReadBlock = (block, into) => {
  const { data } = block;
  const mimeType = block["mediaType"] ?? block["mimeType"];
  const name = block["filename"];
  if (typeof data === "string" && typeof mimeType === "string") pushMedia(into, { mimeType, data, name });
  else into.parts.push(block);
};

const readRefusal: ReadBlock = (block, into) => {
  const text = textOf(block["refusal"] ?? block["content"]);
  if (text !== "") into.refusals.push(text);
};

/** Genkit: a URL, which may be a data URL. */
const readMedia: ReadBlock = (block, into) => {
  const { url, contentType } = block;
  if (typeof url === "string")
    pushMedia(into, { mimeType: contentType ?? /^data:([\w/+.-]+)/.exec(url)?.[1], data: url });
};

const typedBlocks: ReadonlyMap<string, ReadBlock> = new Map<string, ReadBlock>([
  ["text", readText],
  ["input_text", readText],
  ["output_text", readText],
  ["reasoning", readReasoning],
  ["thinking", readReasoning],
  ["tool_call", readCall],
  ["tool-call", readCall],
  ["tool_use", readCall],
  ["toolUse", readCall],
  ["server_tool_call", readCall],
  ["server_tool_use", readCall],
  ["function_call", readCall],
  ["custom_tool_call", readCall],
  ["tool_call_response", readResult],
  ["tool-result", readResult],
  ["tool_result", readResult],
  ["toolResult", readResult],
  ["server_tool_call_response", readResult],
  ["function_call_output", readResult],
  ["custom_tool_call_output", readResult],
  ["blob", readBlob],
  ["binary", readBlob],
  ["uri", readUri],
  ["image", readImage],
  ["image_url", readImage],
  ["image-url", readImage],
  ["input_image", readImage],
  ["file", readFile],
  ["refusal", readRefusal],
]);

/** Blocks without a type, recognized by a member: Bedrock and Gemini. */
const untypedBlocks: ReadonlyArray<[member: string, read: ReadBlock]> = [
  ["toolUse", readCall],
  ["toolResult", readResult],
  ["functionCall", readCall],
  ["function_call", readCall],
  ["functionResponse", readResult],
  ["toolRequest", readCall],
  ["toolResponse", readResult],
  ["media", readMedia],
  ["function_response", readResult],
  ["reasoningContent", (block, into) => readReasoning(innerOf(block["reasoningText"]) ?? block, into)],
  ["inlineData", readFile],
  ["inline_data", (block, into) => readFile({ ...block, mimeType: block["mime_type"] }, into)],
];

/** Sorts one block of a message's content by kind; a block of unknown shape is kept as a part, unchanged. */
export function readBlock(block: unknown, into: Content): void {
  if (typeof block === "string") {
    if (block !== "") into.parts.push({ type: "text", text: block });
    return;
  }
  if (!isObject(block)) return;
  const typed = typeof block["type"] === "string" ? typedBlocks.get(block["type"]) : undefined;
  if (typed) return typed(block, into);
  if (block["type"] === undefined) {
    for (const [member, read] of untypedBlocks) {
      const inner = innerOf(block[member]);
      if (inner) return read(inner, into);
    }
    if (typeof block["reasoning"] === "string") return readReasoning(block, into);
    if (typeof block["text"] === "string")
      return block["thought"] === true ? readReasoning(block, into) : readText(block, into);
  }
  into.parts.push(block);
}

/**
 * The plain text of a string or a list of parts, such as `[{"type": "summary_text", "text": …}]`; "" if there is none.
 */
export function plainText(value: unknown): string {
  return Array.isArray(value) && value.length === 0 ? "" : textOf(value);
}

const imageTypes: ReadonlySet<unknown> = new Set(["image", "image_url", "input_image"]);

/** The parts of a result that contains an image, which text could not represent. */
function partsWithImage(value: unknown): unknown[] | undefined {
  if (!Array.isArray(value) || !value.some((item) => isObject(item) && imageTypes.has(item["type"]))) return undefined;
  const inner = createContent();
  for (const item of value as unknown[]) readBlock(item, inner);
  return inner.parts;
}

/**
 * The text of a tool's result: strings unchanged, blocks of text joined, `{type, value}` unwrapped, anything else as
 * JSON.
 */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) {
    const texts = (value as unknown[]).map((item) => (isObject(item) ? item["text"] : undefined));
    if (texts.length > 0 && texts.every((text) => typeof text === "string")) return texts.join("\n");
  }
  if (isObject(value) && typeof value["type"] === "string" && "value" in value) return textOf(value["value"]);
  return JSON.stringify(value);
}

type Media = { modality?: unknown; mimeType?: unknown; data: string; transcript?: unknown; name?: unknown };

function pushMedia(into: Content, media: Media): void {
  const { modality, data, transcript, name } = media;
  const mimeType = typeof media.mimeType === "string" ? media.mimeType : "application/octet-stream";
  const url = /^(?:data:|https?:)/.test(data) ? data : `data:${mimeType};base64,${data}`;
  if (modality === "image" || mimeType.startsWith("image/")) into.parts.push({ type: "image_url", image_url: { url } });
  else if (modality === "audio" || mimeType.startsWith("audio/")) {
    const format = mimeType.slice(mimeType.indexOf("/") + 1);
    const spoken = typeof transcript === "string" ? { transcript } : {};
    into.parts.push({ type: "input_audio", input_audio: { data, format, ...spoken } });
  } else
    into.parts.push({ type: "file", file: { ...(typeof name === "string" && { filename: name }), file_data: url } });
}

function imageUrl(source: unknown, mimeType: unknown): string | undefined {
  if (typeof source === "string") {
    if (/^(?:data:|https?:)/.test(source) || typeof mimeType !== "string") return source;
    return `data:${mimeType};base64,${source}`;
  }
  if (!isObject(source)) return undefined;
  const { url, data } = source;
  if (typeof url === "string") return url;
  if (isObject(source["image"])) return imageUrl(source["image"], mimeType);
  const mediaType = source["media_type"];
  const type = typeof mediaType === "string" ? mediaType : "image/png";
  return typeof data === "string" ? `data:${type};base64,${data}` : undefined;
}

function innerOf(value: unknown): Block | undefined {
  return isObject(value) ? value : undefined;
}
